import FoundationEssentials
public import LinnetSerialization

/// A server's problem details in `application/problem+json` (RFC 9457).
public struct ProblemDetails: Decodable, Sendable, Hashable {
    /// Identifies the kind of problem, by a URI reference. The default is `about:blank`.
    public var type = "about:blank"
    /// A summary of the kind of problem.
    public var title: String?
    /// The status that the server set for this occurrence.
    public var status: Int?
    /// An explanation of this occurrence.
    public var detail: String?
    /// Identifies this occurrence, by a URI reference.
    public var instance: String?
    /// All members of the object, the extensions included.
    public var members: JSONValue

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, instance
    }

    /// Reads an object. A member whose type differs from RFC 9457, section 3.1, is ignored, as that section requires.
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
