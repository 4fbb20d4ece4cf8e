internal import LinnetMessages

/// A Digest challenge that can be answered (RFC 7616, section 3.3).
struct DigestChallenge: Sendable, Hashable {
    /// The quality of protection of the answer.
    enum Protection: String, Sendable {
        /// The form of RFC 2069, for challenges without a qop parameter.
        case legacy
        case auth
        case authInt = "auth-int"
    }

    // Octets as the characters of ISO 8859-1, because they are hashed and sent back unchanged.
    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: DigestAlgorithm
    /// Whether the name of the algorithm ends in `-sess`.
    let isSession: Bool
    /// The name of the algorithm in the server's spelling; nil if the challenge has none.
    let algorithmName: String?
    let protection: Protection
    /// Whether the user name is sent as a hash (section 3.4.4).
    let hashesUserName: Bool
    /// Whether the server names UTF-8 as its charset, and so accepts the extended form of a user name (section 3.4).
    let namesUTF8: Bool
    /// Whether only the nonce of the refused answer was wrong.
    let isStale: Bool
    /// The URIs of the protection space; empty means the whole origin.
    let domain: [String]

    /// The longest value of a parameter, in bytes. It limits memory, because a nonce is kept while it is used.
    static let longestValue = 4096
    /// The largest number of kept URIs of a domain parameter.
    static let domainLimit = 16

    /// Fails if the challenge lacks a realm or a nonce, asks for an unknown algorithm or protection, or has a parameter
    /// that is too long or invalid in a field.
    ///
    /// - Parameters:
    ///   - challenge: A challenge of any scheme.
    ///   - allowsMD5: Whether to accept MD5, and answers without a count and a client nonce (RFC 2069).
    init?(_ challenge: AuthenticationChallenge, allowsMD5: Bool) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = challenge.isoLatin1Parameter("realm"),
            let nonce = challenge.isoLatin1Parameter("nonce"),
            parameters.values.allSatisfy(Self.isAcceptable)
        else { return nil }
        (self.realm, self.nonce, opaque) = (realm, nonce, challenge.isoLatin1Parameter("opaque"))
        algorithmName = parameters["algorithm"]
        guard let (algorithm, isSession) = Self.algorithm(named: algorithmName), allowsMD5 || algorithm != .md5,
            let protection = Self.protection(offered: parameters["qop"]),
            protection != .legacy || (allowsMD5 && !isSession)
        else { return nil }
        (self.algorithm, self.isSession, self.protection) = (algorithm, isSession, protection)
        hashesUserName = parameters["userhash"]?.lowercased() == "true"
        namesUTF8 = parameters["charset"]?.lowercased() == "utf-8"
        isStale = parameters["stale"]?.lowercased() == "true"
        domain = (parameters["domain"] ?? "").split(separator: " ").prefix(Self.domainLimit).map(String.init)
    }

    /// The rank among the challenges of a response: by algorithm, and RFC 2069 last.
    var strength: Int { 2 * algorithm.rawValue + (protection == .legacy ? 0 : 1) }

    /// Whether a value is short enough, and valid in a field.
    static func isAcceptable(_ value: String) -> Bool {
        value.utf8.count <= longestValue && !value.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }

    private static func algorithm(named name: String?) -> (DigestAlgorithm, isSession: Bool)? {
        guard var name = name?.lowercased() else { return (.md5, false) }
        let isSession = name.hasSuffix("-sess")
        if isSession { name.removeLast("-sess".count) }
        return DigestAlgorithm.available.first { $0.name.lowercased() == name }.map { ($0, isSession) }
    }

    /// Chooses the protection: auth if it is offered, because auth-int needs the whole body before the head.
    private static func protection(offered list: String?) -> Protection? {
        guard let list else { return .legacy }
        let offered = list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        return [Protection.auth, .authInt].first { offered.contains(Substring($0.rawValue)) }
    }
}
