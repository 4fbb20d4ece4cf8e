/// The authenticators that one server or proxy has accepted for the same paths, the latest one last.
///
/// All requests use the latest one while the server accepts the counts of its nonce in any order. Concurrent requests
/// can arrive in another order than they were sent in, and some servers (squid for one) then refuse the nonce. After
/// that, each nonce is used by one request at a time. If no nonce is free, a request is sent without an answer, and its
/// challenge brings another nonce. So there are as many nonces as concurrent requests.
package struct ChallengeResponderStock: Sendable {
    /// The number of nonces that are kept.
    private static let limit = 64

    private var authenticators: [ChallengeResponder] = []
    /// Whether only one request at a time uses a nonce.
    private var isInTurn = false

    /// Creates a stock of one.
    package init(_ authenticator: ChallengeResponder) {
        add(authenticator)
    }

    /// The authenticator of the next request; nil if none is free.
    package func next() -> ChallengeResponder? {
        guard isInTurn else { return authenticators.last }
        // Not a lazy sequence, which may reserve twice: once to find the first one, and once to return it.
        for authenticator in authenticators.reversed() {
            if let reserved = authenticator.reserved() { return reserved }
        }
        return nil
    }

    /// Adds an authenticator, or makes it the latest one.
    package mutating func add(_ authenticator: ChallengeResponder) {
        guard authenticator.isDigest else { return authenticators = [authenticator.unreserved] }
        authenticators.removeAll { !$0.isDigest || $0.hasSession(of: authenticator) }
        authenticators.append(authenticator.unreserved)
        authenticators = authenticators.suffix(Self.limit)
    }

    /// Drops the nonce of a refused answer.
    ///
    /// - Parameter hadCompany: ``AuthenticationAnswer/hadCompany`` of the answer.
    package mutating func refused(_ answer: AuthenticationAnswer, hadCompany: Bool) {
        guard let use = answer.use else { return }
        isInTurn = isInTurn || hadCompany
        authenticators.removeAll { $0.isOf(use.session) }
    }

    /// Whether the answers differ only in their nonces.
    func isLike(_ authenticator: ChallengeResponder) -> Bool {
        authenticators.last?.isLike(authenticator) ?? true
    }
}
