public import LinnetMessages
internal import Synchronization

/// Stores credentials in memory by protection space, and uses each only for requests to the origin of its space.
///
/// ```swift
/// let credentials = CredentialStore()
/// try credentials.set(.password(username: "ada", password: password), for: ProtectionSpace(origin: Origin(url)))
/// let session = try HTTPSession { $0.credentialStore = credentials }
/// ```
/// Sessions may share a store. Nothing is written to disk.
public final class CredentialStore: Sendable {
    private let table = Mutex(CredentialTable())

    /// Creates an empty store.
    public init() {}

    /// Stores a credential for a space, replacing the credential for the same scheme.
    ///
    /// It is used when the server's challenge has its scheme and realm. The order of preference is Bearer, Digest with
    /// the strongest algorithm, Basic. Over http, a server that offers Digest, and has a password for it here, receives
    /// no password by Basic.
    ///
    /// Once an answer was accepted, later requests carry one without a challenge: for Basic, requests to the same
    /// folder and the folders below it (RFC 7617, section 2.2); for Digest, requests to the paths of the challenge's
    /// domain or to the whole origin (RFC 7616, section 3.3).
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - space: The protection space to which the credential applies.
    ///   - preemptively: Whether the credential is sent with every request to the space's origin, before a challenge.
    ///     The default is false, which also ends it for a stored credential. The last one that was set is sent. Without
    ///     effect for ``Credential/password(username:password:allowsMD5:)``, which needs a challenge.
    public func set(_ credential: Credential, for space: ProtectionSpace, preemptively: Bool = false) {
        table.withLock { $0.add(credential, for: space, withoutBeingAsked: preemptively) }
    }

    /// Removes the credentials of a space.
    public func removeCredentials(for space: ProtectionSpace) {
        table.withLock { $0.remove(space) }
    }

    /// Removes all credentials.
    public func removeAll() {
        table.withLock { $0 = CredentialTable() }
    }

    /// Returns the credential for a challenge, or nil if there is none for its scheme, its realm and the origin.
    public func credential(for challenge: AuthenticationChallenge, of origin: Origin) -> Credential? {
        table.withLock { $0.credential(for: challenge, of: origin) }
    }

    /// Returns the best authenticator for a response among the credentials that were not refused; nil if there is none.
    package func authenticator(
        for challenges: [AuthenticationChallenge], of origin: Origin, refused: Set<Credential>
    ) -> ChallengeResponder? {
        table.withLock { $0.authenticator(for: challenges, of: origin, refused: refused) }
    }

    /// Returns the authenticator for a request before any challenge; nil if there is none.
    package func authenticator(before target: RequestTarget) -> ChallengeResponder? {
        // Outside the table's lock, because nonces have locks of their own.
        table.withLock { $0.stock(at: target.pathAlone, of: target.origin) }?.next()
    }

    /// Records that the server accepted an answer.
    package func accepted(_ authenticator: ChallengeResponder, at target: RequestTarget) {
        table.withLock { $0.accepted(authenticator, at: target.pathAlone, of: target.origin) }
    }

    /// Records that the server refused an answer whose credential may still be right.
    package func refused(_ answer: AuthenticationAnswer, at target: RequestTarget) {
        let hadCompany = answer.hadCompany
        table.withLock { $0.refused(answer, hadCompany: hadCompany, of: target.origin) }
    }

    /// Records that the server refused a credential.
    package func refused(_ credential: Credential, at target: RequestTarget) {
        table.withLock { $0.refused(credential, of: target.origin) }
    }
}
