/// A page of posts.
struct Timeline: Codable, Sendable {
    /// The posts, newest first.
    let data: [Post]
}

/// A post with its author.
struct Post: Codable, Sendable {
    let id: Int
    let text: String
    let user: User
}

extension Post {
    /// Servers encode the identifier as a number or as a string of digits.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let digits = (try? container.decode(String.self, forKey: .id)).flatMap { Int($0) }
        id = try digits ?? container.decode(Int.self, forKey: .id)
        text = try container.decode(String.self, forKey: .text)
        user = try container.decode(User.self, forKey: .user)
    }
}

/// The author of posts.
struct User: Codable, Sendable {
    let username: String
    let avatarImage: AvatarImage

    private enum CodingKeys: String, CodingKey {
        case username
        case avatarImage = "avatar_image"
    }
}

/// A user's picture.
struct AvatarImage: Codable, Sendable {
    let url: String
}
