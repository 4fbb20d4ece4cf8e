/// The author of posts.
struct User: Sendable, Hashable {
    let username: String
    let avatarImage: AvatarImage

    /// The number of Unicode scalars of a name that are kept.
    static let nameLimit = 100
}

extension User: Codable {
    private enum CodingKeys: String, CodingKey {
        case username
        case avatarImage = "avatar_image"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        username = try container.decodeText(upTo: Self.nameLimit, forKey: .username)
        avatarImage = try container.decode(AvatarImage.self, forKey: .avatarImage)
    }
}

/// A user's picture.
struct AvatarImage: Sendable, Hashable {
    let url: String
}

extension AvatarImage: Codable {
    private enum CodingKeys: String, CodingKey {
        case url
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = try container.decodeURLText(forKey: .url)
    }
}
