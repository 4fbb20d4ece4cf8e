internal import FoundationEssentials
internal import LinnetMessages

extension StoredCookie: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, value, domain, path, isHostOnly, expires, isSecure, isHTTPOnly, sameSite, creationDate,
            lastAccessDate
    }

    /// Decodes a cookie with all properties.
    ///
    /// - Throws: `DecodingError`, also for a cookie that the initializer refuses.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let domain = try container.decode(String.self, forKey: .domain)
        guard let host = HostName(domain) else { throw Self.corrupted(CookieRefusal.malformed, container) }
        self.init(
            name: try container.decode(CookieBytes.self, forKey: .name),
            value: try container.decode(CookieBytes.self, forKey: .value), domain: host,
            path: try container.decode(CookieBytes.self, forKey: .path),
            isHostOnly: try container.decode(Bool.self, forKey: .isHostOnly),
            expires: try container.decodeIfPresent(Date.self, forKey: .expires),
            isSecure: try container.decode(Bool.self, forKey: .isSecure),
            isHTTPOnly: try container.decode(Bool.self, forKey: .isHTTPOnly),
            sameSite: try container.decode(SameSite.self, forKey: .sameSite),
            creationDate: try container.decode(Date.self, forKey: .creationDate))
        lastAccessDate = try container.decode(Date.self, forKey: .lastAccessDate)
        do throws(CookieRefusal) { try validate() } catch { throw Self.corrupted(error, container) }
    }

    private static func corrupted(
        _ refusal: CookieRefusal, _ container: KeyedDecodingContainer<CodingKeys>
    ) -> DecodingError {
        DecodingError.dataCorruptedError(forKey: .name, in: container, debugDescription: refusal.message)
    }

    /// Encodes all properties, among them the value. Names, values and paths that are not UTF-8 are arrays of octets.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(nameBytes, forKey: .name)
        try container.encode(valueBytes, forKey: .value)
        try container.encode(domain, forKey: .domain)
        try container.encode(pathBytes, forKey: .path)
        try container.encode(isHostOnly, forKey: .isHostOnly)
        try container.encodeIfPresent(expires, forKey: .expires)
        try container.encode(isSecure, forKey: .isSecure)
        try container.encode(isHTTPOnly, forKey: .isHTTPOnly)
        try container.encode(sameSite, forKey: .sameSite)
        try container.encode(creationDate, forKey: .creationDate)
        try container.encode(lastAccessDate, forKey: .lastAccessDate)
    }
}
