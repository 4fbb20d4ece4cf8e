import FoundationEssentials

/// A page of posts.
struct Timeline: Codable, Sendable {
    /// The posts, newest first.
    let data: [Post]
}

/// A post with its author.
struct Post: Sendable, Hashable {
    let id: Int
    let text: String
    let user: User
    /// When it was written, if the server says so.
    var createdAt: Date?
    var attachment: Attachment?

    /// The number of Unicode scalars of a text that are kept: wrapping it takes time for each frame.
    static let textLimit = 2_000
}

/// A file of a post.
struct Attachment: Sendable, Hashable {
    let name: String
    let url: String
    /// The size in bytes.
    let size: Int64

    /// The number of Unicode scalars of a name that are kept.
    static let nameLimit = 200
}

extension Post: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, text, user, attachment
        case createdAt = "created_at"
    }

    /// Servers encode the identifier as a number or as a string of digits, and the time by ISO 8601.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let digits = (try? container.decode(String.self, forKey: .id)).flatMap { Int($0) }
        id = try digits ?? container.decode(Int.self, forKey: .id)
        text = try container.decodeText(upTo: Self.textLimit, forKey: .text)
        user = try container.decode(User.self, forKey: .user)
        let time = try container.decodeIfPresent(String.self, forKey: .createdAt)
        createdAt = time.flatMap { try? Date($0, strategy: .iso8601) }
        attachment = try container.decodeIfPresent(Attachment.self, forKey: .attachment)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(text, forKey: .text)
        try container.encode(user, forKey: .user)
        try container.encodeIfPresent(createdAt?.formatted(.iso8601), forKey: .createdAt)
        try container.encodeIfPresent(attachment, forKey: .attachment)
    }
}

extension Attachment: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, url, size
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeText(upTo: Self.nameLimit, forKey: .name)
        url = try container.decodeURLText(forKey: .url)
        size = try container.decode(Int64.self, forKey: .size)
    }
}
