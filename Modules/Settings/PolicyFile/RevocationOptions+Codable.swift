internal import FoundationEssentials
internal import LinnetMessages
public import LinnetSecurity

/// Coded as an object with a member for each property that has another value than its default; lists are PEM text, and
/// the clock difference is a number of seconds. Unknown keys and names throw a `SecurityError`.
extension RevocationOptions: Codable {
    enum Key: String, CodingKey, CaseIterable {
        case lists
        case checksStaple
        case honorsMustStaple
        case failure
        case clockSkew
    }

    /// Decodes options.
    public init(from decoder: any Decoder) throws {
        self.init()
        let object = try PolicyObject<Key>(decoder)
        try object.refuseUnknownKeys()
        for (index, text) in (try object.optional([String].self, .lists) ?? []).enumerated() {
            do throws(SecurityError) {
                lists += try RevocationList.all(pem: Data(text.utf8))
            } catch {
                throw SecurityError(error.code, error.message, path: object.path(.lists) + "[\(index)]")
            }
        }
        checksStaple = try object.optional(Bool.self, .checksStaple) ?? checksStaple
        honorsMustStaple = try object.optional(Bool.self, .honorsMustStaple) ?? honorsMustStaple
        failure = try object.choice(Failure.all, .failure) ?? failure
        clockSkew = try object.seconds(.clockSkew) ?? clockSkew
    }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws {
        let defaults = RevocationOptions()
        var container = encoder.container(keyedBy: Key.self)
        if !lists.isEmpty {
            try container.encode(lists.map { PEM.text($0.derBytes, label: "X509 CRL") }, forKey: .lists)
        }
        if checksStaple != defaults.checksStaple { try container.encode(checksStaple, forKey: .checksStaple) }
        if honorsMustStaple != defaults.honorsMustStaple {
            try container.encode(honorsMustStaple, forKey: .honorsMustStaple)
        }
        if failure != defaults.failure { try container.encode(failure.description, forKey: .failure) }
        if clockSkew != defaults.clockSkew { try container.encode(clockSkew.codedSeconds, forKey: .clockSkew) }
    }
}
