internal import LinnetMessages

/// A server's challenge to authenticate (RFC 9110, section 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, such as `basic`.
    public var scheme: String
    /// The token68 value after the scheme, used by Negotiate (RFC 9110, section 11.2).
    public var token68: String?
    /// The parameters by name in lower case. If a name occurs twice, the first value counts. A value that is not UTF-8
    /// is read as ISO 8859-1.
    public var parameters: [String: String]
    /// The octets of the values that are not UTF-8.
    private var octets: [String: [UInt8]] = [:]

    /// Creates a challenge, for tests.
    public init(scheme: String, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme.lowercased()
        self.token68 = token68
        self.parameters = parameters
    }

    /// The realm, the protected part of the origin (RFC 9110, section 11.5); nil if the server does not name it.
    public var realm: String? { parameters["realm"] }

    mutating func add(_ name: String, _ value: [UInt8]) {
        if let text = String(validating: value, as: UTF8.self) {
            parameters[name] = text
        } else {
            parameters[name] = String(isoLatin1: value)
            octets[name] = value
        }
    }

    /// The octets of a parameter as the characters of ISO 8859-1, for values that are hashed, compared or sent back.
    func isoLatin1Parameter(_ name: String) -> String? {
        octets[name].map { String(isoLatin1: $0) } ?? parameters[name].map { String(isoLatin1: $0.utf8) }
    }

    /// Parses the values of a response's WWW-Authenticate fields, each of which can have several challenges (RFC 9110,
    /// section 11.6.1). In each value, parsing stops at a malformed challenge; the challenges before it are returned.
    /// At most the first 64 challenges are returned.
    public static func parse(_ fieldValues: [String]) -> [AuthenticationChallenge] {
        parse(fieldValues.map { Array($0.utf8) })
    }

    /// Parses field values in ISO 8859-1.
    package static func parse(isoLatin1 fieldValues: [String]) -> [AuthenticationChallenge] {
        parse(fieldValues.map(\.isoLatin1Octets))
    }

    private static func parse(_ fieldValues: [[UInt8]]) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        for value in fieldValues where challenges.count < limit {
            var parser = AuthenticationChallengeParser(value)
            challenges += parser.challenges(upTo: limit - challenges.count)
        }
        return challenges
    }

    /// The largest number of considered challenges of a response.
    private static let limit = 64
}
