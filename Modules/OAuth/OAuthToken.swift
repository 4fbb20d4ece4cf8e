public import FoundationEssentials
internal import LinnetJSON
internal import LinnetMessages

/// A Bearer token (RFC 6749, section 5.1; RFC 6750), with what renews it.
///
/// Token files have its coded form. Descriptions and mirrors show neither of its secrets.
public struct OAuthToken: Sendable, Hashable {
    /// The token that requests have.
    public var accessToken: String
    /// The token that gets the next one, if the issuer sent one.
    public var refreshToken: String?
    /// When the token was received, by the clock of this machine.
    public var issued: Date
    /// When the access token expires, by the clock of this machine; nil if the issuer did not say.
    public var expires: Date?
    /// The granted scopes: the requested ones if the issuer did not say; nil if none were requested.
    public var scopes: [String]?
    /// Whether the client got the token for itself, by the grant of client credentials. Only such a token is followed
    /// by another one without a refresh token. The default is false: it is a user's.
    public var isForClient = false

    /// The largest size of a token in bytes.
    static let sizeLimit = 64 << 10
    /// How long a token is used at least, in seconds, however short its lifetime is.
    static let shortestUse = 10.0
    /// The longest lifetime in seconds: a hundred years.
    static let longestLifetime = 3_153_600_000.0

    /// Makes a token, for example one that another program has received.
    public init(
        accessToken: String, refreshToken: String? = nil, issued: Date = Date(), expires: Date? = nil,
        scopes: [String]? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.issued = issued.storable
        self.expires = expires?.storable
        self.scopes = scopes
    }

    /// Whether the token expires within a duration, of which at most half of its lifetime counts: a token that lives
    /// for less than the duration is not renewed for each request. For the same reason, a token that was just issued is
    /// used, even if it has no lifetime at all; the server may still refuse it.
    func expires(within leeway: Duration, of now: Date) -> Bool {
        guard let expires else { return false }
        let lifetime = max(0, expires.timeIntervalSince(issued))
        // A token made by hand may have expired before it was issued.
        if expires >= issued, now.timeIntervalSince(issued) < Self.shortestUse { return false }
        return now.timeIntervalSince(expires) >= -min(leeway / .seconds(1), lifetime / 2)
    }
}

extension Date {
    /// The date as it is after it was stored in seconds since 1970, which differ from Foundation's by a large number.
    fileprivate var storable: Date { Date(timeIntervalSince1970: timeIntervalSince1970) }
}

extension OAuthToken: CustomStringConvertible, CustomReflectable {
    /// The times and the scopes, without the tokens.
    public var description: String {
        let facts = [
            "access token \(Redaction.mark)", refreshToken.map { _ in "refresh token \(Redaction.mark)" },
            expires.map { "expires \($0)" }, scopes.map { "scopes \($0.joined(separator: " ").oneLine)" },
        ]
        return "OAuthToken(" + facts.compactMap { $0 }.joined(separator: ", ") + ")"
    }

    /// Shows the times and the scopes, without the tokens.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "accessToken": Redaction.mark, "refreshToken": refreshToken.map { _ in Redaction.mark } as Any,
                "issued": issued, "expires": expires as Any, "scopes": scopes as Any,
                "isForClient": isForClient,
            ])
    }
}

// MARK: - Coding

extension OAuthToken: Codable {
    private enum Key: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case tokenType = "token_type"
        case issued = "issued_at"
        case expires = "expires_at"
        case scope
        case isForClient = "is_for_client"
    }

    /// Decodes a stored token. A token that cannot be sent is not decoded.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        accessToken = try values.decode(String.self, forKey: .accessToken)
        refreshToken = try values.decodeIfPresent(String.self, forKey: .refreshToken)
        issued = Date(timeIntervalSince1970: try values.decode(Double.self, forKey: .issued))
        expires = try values.decodeIfPresent(Double.self, forKey: .expires).map { Date(timeIntervalSince1970: $0) }
        scopes = try values.decodeIfPresent(String.self, forKey: .scope).map(Self.scopes)
        isForClient = try values.decodeIfPresent(Bool.self, forKey: .isForClient) ?? false
        guard Self.isValid(accessToken) else {
            throw DecodingError.dataCorruptedError(
                forKey: .accessToken, in: values, debugDescription: "The access token is not a Bearer token.")
        }
    }

    /// Encodes the token with its secrets.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(accessToken, forKey: .accessToken)
        try values.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try values.encode("Bearer", forKey: .tokenType)
        try values.encode(issued.timeIntervalSince1970, forKey: .issued)
        try values.encodeIfPresent(expires?.timeIntervalSince1970, forKey: .expires)
        try values.encodeIfPresent(scopes?.joined(separator: " "), forKey: .scope)
        if isForClient { try values.encode(true, forKey: .isForClient) }
    }

    private static func isValid(_ token: String) -> Bool { (try? AuthorizationValue.bearer(token: token)) != nil }

    private static func scopes(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}

// MARK: - Responses

extension OAuthToken {
    /// Reads a token response (RFC 6749, section 5.1).
    ///
    /// - Parameters:
    ///   - object: The response.
    ///   - now: When the response came.
    ///   - endpoint: The name of the endpoint for messages.
    init(_ object: JSONObject, at now: Date, endpoint: String) throws(OAuthError) {
        func text(_ key: String) throws(OAuthError) -> String? {
            guard let value = object[key], !value.isNull else { return nil }
            guard let text = value.string else { throw .invalidResponse(endpoint, "\(key) is not a string") }
            return text
        }
        guard let accessToken = try text("access_token") else {
            throw .invalidResponse(endpoint, "it has no access token")
        }
        let refreshToken = try text("refresh_token")
        for token in [accessToken, refreshToken ?? ""] where token.utf8.count > Self.sizeLimit {
            throw OAuthError(.tooLarge, "The \(endpoint) sent a token of more than 64 KiB.")
        }
        guard let type = try text("token_type"), type.lowercased() == "bearer" else {
            throw .invalidResponse(endpoint, "the type of the token is not Bearer")
        }
        guard Self.isValid(accessToken) else {
            throw .invalidResponse(endpoint, "the access token is empty or has characters that cannot be sent")
        }
        let lifetime = try Self.seconds("expires_in", of: object, endpoint)
        self.init(
            accessToken: accessToken, refreshToken: refreshToken.flatMap { $0.isEmpty ? nil : $0 }, issued: now,
            expires: lifetime.map { now.addingTimeInterval($0) }, scopes: try Self.scopes(of: object, endpoint))
    }

    /// The token of an answer to a request for scopes: an issuer that does not name the scopes has granted them (RFC
    /// 6749, section 5.1).
    func asking(for requested: [String]) -> OAuthToken {
        guard scopes == nil, !requested.isEmpty else { return self }
        var token = self
        token.scopes = requested
        return token
    }

    /// The scopes of a response; nil if they are absent. Some issuers send an array in place of a text with spaces;
    /// refusing that would lose a rotated refresh token.
    private static func scopes(of object: JSONObject, _ endpoint: String) throws(OAuthError) -> [String]? {
        guard let value = object["scope"], !value.isNull else { return nil }
        if let text = value.string { return scopes(text) }
        let names = value.array?.map(\.string) ?? [nil]
        guard !names.contains(nil) else {
            throw .invalidResponse(endpoint, "scope is neither a string nor an array of strings")
        }
        return names.compactMap { $0 }.flatMap(scopes)
    }

    /// A duration of a response in seconds; nil if it is absent. Some issuers send a string of digits; refusing that
    /// would lose a rotated refresh token.
    static func seconds(
        _ key: String, of object: JSONObject, _ endpoint: String
    ) throws(OAuthError) -> Double? {
        guard let value = object[key], !value.isNull else { return nil }
        guard let seconds = value.double ?? value.string.flatMap(number), 0...longestLifetime ~= seconds else {
            throw .invalidResponse(endpoint, "\(key) is not a number of seconds between 0 and a hundred years")
        }
        return seconds
    }

    /// The number of a text of decimal digits; nil for any other text. The longest lifetime has ten digits.
    private static func number(_ text: String) -> Double? {
        guard 1...10 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Double(text)
    }
}
