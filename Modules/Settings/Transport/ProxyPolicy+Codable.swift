internal import LinnetMessages
internal import LinnetSecurity
public import LinnetTransport

/// Coded as one of the names `none` and `environment`, or as an object with the URLs of the proxies `http` and `https`,
/// and the array `except`.
///
/// User names and passwords are omitted. A policy that chooses with a function, and a proxy with a security policy of
/// its own, cannot be encoded.
extension ProxyPolicy: Codable {
    private enum Name: String, Codable { case none, environment }
    private enum CodingKeys: String, CodingKey, CaseIterable { case http, https, except }

    /// Whether all connections are direct.
    var isNone: Bool { if case .none = form { true } else { false } }

    /// Decodes a policy.
    public init(from decoder: any Decoder) throws {
        if let name = try? decoder.singleValueContainer().decode(Name.self) {
            self = name == .none ? .none : .environment
            return
        }
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        func proxy(_ key: CodingKeys) throws -> Proxy? {
            guard let url = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
            do {
                return try Proxy(url)
            } catch {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: error.message)
            }
        }
        self = .fixed(
            http: try proxy(.http), https: try proxy(.https),
            except: try container.decodeIfPresent([String].self, forKey: .except) ?? [])
    }

    /// Encodes the policy.
    public func encode(to encoder: any Encoder) throws {
        switch form {
        case .none, .environment:
            var container = encoder.singleValueContainer()
            try container.encode(isNone ? Name.none : .environment)
        case .fixed(let rules):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(Self.url(rules.http, encoder), forKey: .http)
            try container.encodeIfPresent(Self.url(rules.https, encoder), forKey: .https)
            if !rules.exceptions.texts.isEmpty { try container.encode(rules.exceptions.texts, forKey: .except) }
        case .chosen:
            throw Self.error(self, encoder, "A function that chooses proxies cannot be stored.")
        }
    }

    private static func url(_ proxy: Proxy?, _ encoder: any Encoder) throws -> String? {
        guard let proxy else { return nil }
        guard proxy.kind != .https || proxy.securityPolicy.identity == SecurityPolicy.systemTrust.identity else {
            throw error(proxy, encoder, "A proxy with a security policy of its own cannot be stored.")
        }
        return proxy.description
    }

    private static func error(_ value: Any, _ encoder: any Encoder, _ message: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: encoder.codingPath, debugDescription: message))
    }
}
