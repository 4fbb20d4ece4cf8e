internal import LinnetMessages

/// Answers the challenges of one server or proxy with one credential.
///
/// Copies share the nonce count of their Digest challenge, so that concurrent requests have counts of their own.
package struct ChallengeResponder: Sendable {
    /// The credential.
    package let credential: Credential
    private let mechanism: Mechanism
    /// The use of the nonce for the next answer; nil to begin one.
    private var use: DigestUse?

    private enum Mechanism {
        case value(String)
        case digest(DigestSession)
    }

    /// Creates an authenticator for the strongest challenge that the credential can answer; nil if there is none.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - challenges: The challenges of a 401 or 407 response.
    ///   - allowsBasic: Whether a password that can answer Digest may be sent by Basic, readable on the way unless the
    ///     connection is encrypted.
    ///   - makeClientNonce: Makes the client nonces of Digest, for tests. The default is the system's random source.
    package init?(
        _ credential: Credential, for challenges: [AuthenticationChallenge], allowsBasic: Bool,
        makeClientNonce: @escaping @Sendable () -> String = DigestSession.randomNonce
    ) {
        self.credential = credential
        switch credential.secret {
        case .value(let value):
            guard challenges.contains(where: { $0.scheme == credential.scheme }) else { return nil }
            mechanism = .value(value)
        case .password(let username, let password, let allowsMD5):
            let digests = challenges.compactMap { DigestChallenge($0, allowsMD5: allowsMD5) }
            if let strongest = digests.max(by: { $0.strength < $1.strength }) {
                mechanism = .digest(
                    DigestSession(
                        strongest, username: username, password: password, makeClientNonce: makeClientNonce))
            } else if allowsBasic, challenges.contains(where: { $0.scheme == "basic" }) {
                mechanism = .value(AuthorizationValue.basic(username: username, password: password))
            } else {
                return nil
            }
        }
    }

    /// Creates an authenticator that answers without a challenge; nil for a password, which needs one.
    package init?(withoutChallenge credential: Credential) {
        guard case .value(let value) = credential.secret else { return nil }
        (self.credential, mechanism) = (credential, .value(value))
    }

    /// Whether the scheme is Digest.
    package var isDigest: Bool { session != nil }

    /// The algorithm for hashing the request's body; nil if the answer does not need the hash.
    package var bodyAlgorithm: DigestAlgorithm? {
        guard let challenge = session?.challenge, challenge.protection == .authInt else { return nil }
        return challenge.algorithm
    }

    /// Returns the answer for one request.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - uri: The request target as it is sent (RFC 9112, section 3.2): for CONNECT, the authority.
    ///   - bodyHash: The hash of the request's body by ``bodyAlgorithm``; nil for no body.
    package func answer(method: String, uri: String, bodyHash: String? = nil) -> AuthenticationAnswer {
        switch mechanism {
        case .value(let value): return AuthenticationAnswer(value: value, computation: nil, use: nil)
        case .digest(let session):
            let use = use ?? session.beginUse()
            let (value, computation) = session.answer(method: method, uri: uri, bodyHash: bodyHash)
            return AuthenticationAnswer(value: value, computation: computation, use: use)
        }
    }

    /// Returns an authenticator for a new nonce if, according to the server, only the nonce of an answer was wrong (RFC
    /// 7616, section 3.3, stale); otherwise nil.
    package func renewed(
        by challenges: [AuthenticationChallenge], after answer: AuthenticationAnswer
    ) -> ChallengeResponder? {
        guard let session else { return nil }
        return ChallengeResponder(
            credential, for: answer.renewals(in: challenges), allowsBasic: false,
            makeClientNonce: session.makeClientNonce)
    }

    // MARK: Nonces in turn

    /// Returns an authenticator for one request that uses its nonce alone until its answer is released; nil if the
    /// nonce is in use.
    func reserved() -> ChallengeResponder? {
        guard let session else { return self }
        guard let use = session.beginUseAlone() else { return nil }
        var reserved = self
        reserved.use = use
        return reserved
    }

    var unreserved: ChallengeResponder {
        var authenticator = self
        authenticator.use = nil
        return authenticator
    }

    func isOf(_ other: DigestSession) -> Bool { session === other }

    func hasSession(of other: ChallengeResponder) -> Bool { other.session.map(isOf) ?? false }

    /// Whether the two differ only in their nonces.
    func isLike(_ other: ChallengeResponder) -> Bool {
        guard let session, let theirs = other.session else { return false }
        return credential == other.credential && session.challenge.realm == theirs.challenge.realm
            && session.challenge.domain == theirs.challenge.domain
    }

    /// The rank among the answers to one response.
    var strength: Int { session?.challenge.strength ?? 0 }

    /// The URIs for which the answers are valid; empty means the whole origin, nil means unknown.
    var domain: [String]? { session?.challenge.domain }

    private var session: DigestSession? {
        if case .digest(let session) = mechanism { session } else { nil }
    }
}

/// The answer of one request to a challenge. Its nonce is in use until the last copy is released.
package struct AuthenticationAnswer: Sendable {
    /// The value of the Authorization or Proxy-Authorization field, with each octet as a character (ISO 8859-1).
    package let value: String
    let computation: DigestComputation?
    let use: DigestUse?

    /// Whether several requests have used the nonce at once. Takes a lock.
    package var hadCompany: Bool { use?.session.hasBeenShared ?? false }

    /// Whether only the nonce was wrong, according to the server, and it sent another one (RFC 7616, section 3.3,
    /// stale).
    package func isStale(by challenges: [AuthenticationChallenge]) -> Bool { !renewals(in: challenges).isEmpty }

    /// The challenges according to which only the nonce was wrong.
    func renewals(in challenges: [AuthenticationChallenge]) -> [AuthenticationChallenge] {
        guard let computation, let realm = use?.session.challenge.realm else { return [] }
        return challenges.filter { challenge in
            challenge.parameters["stale"]?.lowercased() == "true" && challenge.isoLatin1Parameter("realm") == realm
                && challenge.isoLatin1Parameter("nonce") != computation.nonce
        }
    }

    /// Verifies the server's proof of the password, and takes over its next nonce (RFC 7616, section 3.5).
    ///
    /// A response without a proof is accepted, since the field is optional. The proof for auth-int is not verified,
    /// because it covers the response's body, which is not read here.
    ///
    /// - Parameter fields: The values of the response's Authentication-Info or Proxy-Authentication-Info fields, as
    ///   characters of ISO 8859-1.
    /// - Throws: ``AuthenticationError`` with ``AuthenticationError/Code/wrongServerProof``.
    package func verify(_ fields: [String]) throws(AuthenticationError) {
        guard let session = use?.session, let computation, !fields.isEmpty,
            let info = AuthenticationChallenge.parse(isoLatin1: ["Info " + fields.joined(separator: ", ")]).first
        else { return }
        let parameters = info.parameters
        let protection = parameters["qop"]?.lowercased() ?? computation.protection.rawValue
        if let proof = parameters["rspauth"], computation.protection != .authInt, protection != "auth-int" {
            guard !proof.isEmpty, proof.lowercased() == computation.serverProof else {
                throw AuthenticationError(
                    .wrongServerProof, "The server's response proves no knowledge of the password (rspauth).")
            }
        }
        if let nonce = info.isoLatin1Parameter("nextnonce"), DigestChallenge.isAcceptable(nonce) {
            session.use(nextNonce: nonce, after: computation)
        }
    }
}

extension AuthenticationAnswer: Equatable {
    /// Whether both send the same value.
    package static func == (left: AuthenticationAnswer, right: AuthenticationAnswer) -> Bool {
        left.value == right.value && left.computation == right.computation
    }
}
