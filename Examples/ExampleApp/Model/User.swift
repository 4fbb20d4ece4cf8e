/// The author of posts.
struct User: Codable, Sendable, Hashable {
    let username: String
    let avatarImage: AvatarImage

    private enum CodingKeys: String, CodingKey {
        case username
        case avatarImage = "avatar_image"
    }
}

/// A user's picture.
struct AvatarImage: Codable, Sendable, Hashable {
    let url: String
}
