public import LinnetMessages
internal import Synchronization

/// Stores credentials in memory, each for one protection space, and uses them only for requests to the space's origin.
///
/// ```swift
/// let credentials = CredentialStore()
/// try credentials.set(.basic(username: "ada", password: password), for: ProtectionSpace(origin: Origin(url)))
/// let session = try HTTPSession { $0.credentialStore = credentials }
/// ```
/// Sessions may share a store. Nothing is written to disk.
public final class CredentialStore: Sendable {
    private let table = Mutex(CredentialTable())

    /// Creates an empty store.
    public init() {}

    /// Stores a credential for a space, replacing the one for the same scheme.
    ///
    /// It is sent when the server's challenge has its scheme and realm. Once a Basic credential was accepted, it is also sent
    /// with later requests to the same folder and the folders below it (RFC 7617, section 2.2).
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - space: The protection space to which the credential applies.
    ///   - preemptively: Whether the credential is sent with every request to the space's origin, before a challenge. The
    ///     default is false.
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

    /// Returns the credential to send with a request before any challenge.
    package func credential(before target: RequestTarget) -> Credential? {
        table.withLock { $0.credential(at: target.pathAlone, of: target.origin) }
    }

    /// Records that the server accepted a credential.
    package func accepted(_ credential: Credential, at target: RequestTarget) {
        table.withLock { $0.accepted(credential, at: target.pathAlone, of: target.origin) }
    }

    /// Records that the server refused a credential.
    package func refused(_ credential: Credential, at target: RequestTarget) {
        table.withLock { $0.refused(credential, of: target.origin) }
    }
}
