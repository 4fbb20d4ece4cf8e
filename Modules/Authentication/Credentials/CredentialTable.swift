internal import FoundationEssentials
internal import LinnetMessages

/// The credentials by protection space, guarded by the store's lock.
struct CredentialTable {
    private struct Key: Hashable {
        var space: ProtectionSpace
        var scheme: String
    }

    /// An accepted answer, and the prefix of the paths to which it is sent without a challenge.
    private struct Learned {
        var prefix: Substring
        var credential: Credential
        var stock: ChallengeResponderStock
    }

    /// The maximum number of prefixes remembered for one origin.
    private static let learnedLimit = 64

    private var credentials: [Key: Credential] = [:]
    private var unasked: [Origin: ChallengeResponder] = [:]
    private var learned: [Origin: [Learned]] = [:]

    mutating func add(_ credential: Credential, for space: ProtectionSpace, withoutBeingAsked: Bool) {
        let old = credentials.updateValue(credential, forKey: Key(space: space, scheme: credential.scheme))
        if let old, old != credential { forget(old, space.origin) }
        if withoutBeingAsked {
            if let authenticator = ChallengeResponder(withoutChallenge: credential) {
                unasked[space.origin] = authenticator
            }
        } else if old == credential, unasked[space.origin]?.credential == credential {
            unasked[space.origin] = nil
        }
    }

    mutating func remove(_ space: ProtectionSpace) {
        for (key, credential) in credentials where key.space == space {
            credentials[key] = nil
            forget(credential, space.origin)
        }
    }

    /// Returns the credential for a challenge: for its realm, or else for its origin. A password for Digest answers
    /// Basic over https.
    func credential(for challenge: AuthenticationChallenge, of origin: Origin) -> Credential? {
        let realms = [challenge.realm, nil]
        let schemes = challenge.scheme == "basic" && origin.isSecure ? ["basic", "digest"] : [challenge.scheme]
        for realm in realms {
            let space = ProtectionSpace(origin: origin, realm: realm)
            for scheme in schemes {
                if let credential = credentials[Key(space: space, scheme: scheme)] { return credential }
            }
        }
        return nil
    }

    /// Returns the best authenticator for a response: Bearer, then the strongest Digest, then Basic.
    ///
    /// Over http, a server that offers Digest receives nothing by Basic if there is a password for Digest, even after
    /// it refused the password.
    func authenticator(
        for challenges: [AuthenticationChallenge], of origin: Origin, refused: Set<Credential>
    ) -> ChallengeResponder? {
        let known = challenges.compactMap { challenge in
            credential(for: challenge, of: origin).map { (challenge: challenge, credential: $0) }
        }
        let hasDigest = known.contains { $0.challenge.scheme == "digest" }
        for scheme in ["bearer", "digest", "basic"] {
            if scheme == "basic", hasDigest, !origin.isSecure { break }
            let answers = known.compactMap { challenge, credential in
                challenge.scheme == scheme && !refused.contains(credential)
                    ? ChallengeResponder(credential, for: [challenge], allowsBasic: origin.isSecure) : nil
            }
            if let best = answers.max(by: { $0.strength < $1.strength }) { return best }
        }
        return nil
    }

    /// Returns the authenticators for requests before any challenge.
    func stock(at path: Substring, of origin: Origin) -> ChallengeResponderStock? {
        if let authenticator = unasked[origin] { return ChallengeResponderStock(authenticator) }
        let known = learned[origin, default: []].filter { path.hasPrefix($0.prefix) }
        return known.max { $0.prefix.utf8.count < $1.prefix.utf8.count }?.stock
    }

    /// Records an accepted answer. Basic applies to all paths in the folder of the accepted one (RFC 7617, section
    /// 2.2). Digest applies to the paths of its domain parameter, or to the whole origin without one (RFC 7616, section
    /// 3.3).
    mutating func accepted(_ authenticator: ChallengeResponder, at path: Substring, of origin: Origin) {
        let credential = authenticator.credential
        // A hook can answer with the credential of another origin. It must not be sent here again without a new answer
        // of the hook.
        guard credential.scheme != "bearer",
            credentials.contains(where: { $0.key.space.origin == origin && $0.value == credential })
        else { return }
        for prefix in Self.prefixes(of: authenticator, at: path, of: origin) {
            let old = learned[origin, default: []]
            var known = old.filter { old in
                old.prefix != prefix && !(old.prefix.hasPrefix(prefix) && old.credential == credential)
            }
            if var same = old.first(where: { $0.prefix == prefix && $0.credential == credential }),
                same.stock.isLike(authenticator)
            {
                same.stock.add(authenticator)
                known.append(same)
            } else {
                let stock = ChallengeResponderStock(authenticator)
                known.append(Learned(prefix: prefix, credential: credential, stock: stock))
            }
            learned[origin] = Array(known.suffix(Self.learnedLimit))
        }
    }

    /// Records a refused nonce, which is no longer used.
    mutating func refused(_ answer: AuthenticationAnswer, hadCompany: Bool, of origin: Origin) {
        for index in (learned[origin] ?? []).indices {
            learned[origin]?[index].stock.refused(answer, hadCompany: hadCompany)
        }
    }

    /// Records a refused credential, which is no longer sent without a challenge.
    mutating func refused(_ credential: Credential, of origin: Origin) {
        learned[origin]?.removeAll { $0.credential == credential }
    }

    private mutating func forget(_ credential: Credential, _ origin: Origin) {
        if unasked[origin]?.credential == credential { unasked[origin] = nil }
        refused(credential, of: origin)
    }

    private static func prefixes(
        of authenticator: ChallengeResponder, at path: Substring, of origin: Origin
    ) -> [Substring] {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? path
        guard let domain = authenticator.domain else { return [folder] }
        if domain.isEmpty { return ["/"] }
        let own = domain.compactMap { prefix(of: $0, in: origin) }
        return own.isEmpty ? [folder] : own
    }

    /// The path of a URI in a domain parameter; nil for another origin, because the credential is not sent there.
    private static func prefix(of uri: String, in origin: Origin) -> Substring? {
        if uri.hasPrefix("/"), !uri.hasPrefix("//") { return uri[...] }
        guard let url = URL(string: uri), let target = try? RequestTarget(parsing: url), target.origin == origin else {
            return nil
        }
        return target.pathAlone
    }
}
