import FoundationEssentials

/// A page of posts.
struct Timeline: Codable, Sendable {
    /// The posts, newest first.
    var data: [Post]
}

/// A post with its author.
struct Post: Encodable, Sendable, Hashable {
    var id: Int
    var text: String
    var user: User
    /// When it was written, if the server says so.
    var createdAt: Date?
    var attachment: Attachment?
}

/// The author of posts.
struct User: Codable, Sendable, Hashable {
    struct Picture: Codable, Sendable, Hashable { var url: URL }

    var username: String
    var avatarImage: Picture
}

/// A file of a post.
struct Attachment: Codable, Sendable, Hashable {
    var name: String
    var url: URL
    /// The size in bytes.
    var size: Int64
}

extension Post: Decodable {
    /// Decodes a post, whose identifier is a number or a string of digits. Its texts are truncated, so that a server
    /// cannot make the app wrap and draw a text of any size.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let digits = (try? container.decode(String.self, forKey: .id)).flatMap { Int($0) }
        id = try digits ?? container.decode(Int.self, forKey: .id)
        text = try container.decode(String.self, forKey: .text).truncated(toScalars: 2_000)
        user = try container.decode(User.self, forKey: .user)
        user.username = user.username.truncated(toScalars: 100)
        createdAt = try container.decodeIfPresent(Date.self, forKey: .createdAt)
        attachment = try container.decodeIfPresent(Attachment.self, forKey: .attachment)
        if let name = attachment?.name { attachment?.name = name.truncated(toScalars: 200) }
    }
}

extension String {
    /// The first Unicode scalars. A limit in characters would not bound the text: a character can have any number of
    /// combining marks.
    fileprivate func truncated(toScalars limit: Int) -> String { String(unicodeScalars.prefix(limit)) }
}
