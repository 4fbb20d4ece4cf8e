import FoundationEssentials
public import LinnetSerialization

/// A server's problem details, in `application/problem+json` (RFC 9457).
public struct ProblemDetails: Decodable, Sendable, Hashable {
    /// A URI reference that identifies the problem type. The default is `about:blank`.
    public var type = "about:blank"
    /// A short summary of the problem type.
    public var title: String?
    /// The status code that the server generated for this occurrence.
    public var status: Int?
    /// An explanation of this occurrence.
    public var detail: String?
    /// A URI reference that identifies this occurrence.
    public var instance: String?
    /// All members of the object, including extensions.
    public var members: JSONValue

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, instance
    }

    /// Decodes an object. A member whose type does not match RFC 9457, section 3.1, is ignored, as that section
    /// requires.
    public init(from decoder: any Decoder) throws {
        members = try JSONValue(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func member<T: Decodable>(_ key: CodingKeys, _ type: T.Type) -> T? {
            (try? container.decodeIfPresent(type, forKey: key)) ?? nil
        }
        type = member(.type, String.self) ?? "about:blank"
        title = member(.title, String.self)
        status = member(.status, Int.self)
        detail = member(.detail, String.self)
        instance = member(.instance, String.self)
    }
}
