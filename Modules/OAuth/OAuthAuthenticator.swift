internal import HTTPTypes
public import LinnetMessages
public import LinnetSerialization
public import LinnetSession
internal import Synchronization

/// Adds an OAuth token to the requests of a session, and renews it.
///
/// ```swift
/// let rules = OAuthAuthenticator(client: client, store: try FileTokenStore(file))
/// let token = try await rules.makeCredential(for: [Origin("https://api.example.com")!])
/// let api = try HTTPSession { $0.authenticator = .renewing(token) }
/// ```
/// A token is renewed shortly before it expires, and when a server refuses it with the status 401: by its refresh
/// token, or, for a token of the client itself, by the client's own credentials. If another program has renewed it in
/// the same store before, the stored token is used without a renewal.
///
/// A renewal that was begun is completed and stored even if all requests that wait for it are cancelled, because the
/// issuer may accept a refresh token once only (RFC 9700, section 4.14.2). If the store fails then, this process uses
/// the new token all the same, stores it with the next renewal, and reports the error.
///
/// Without a token that can be renewed, requests fail with ``OAuthError/Code/loginRequired`` as the underlying error:
/// also when another program has removed the login from the store, and when a user's token has no refresh token. A
/// client with a secret gets a token for itself only if there was no user's token.
public struct OAuthAuthenticator: Authenticator {
    /// The type of the credential.
    public typealias Credential = OAuthToken

    /// The client that renews the token.
    public let client: OAuthClient
    /// The store of the token.
    public let store: any TokenStore
    /// How long before its expiry a token is renewed. For a token that lives for less than twice as long, half of its
    /// lifetime counts. In the first 10 seconds, a token is renewed only if a server refuses it, however short its
    /// lifetime is.
    public let leeway: Duration
    /// Called with the error of the store if a renewed token could not be stored; see
    /// ``init(client:store:leeway:didFailToStore:)``.
    public let didFailToStore: (@Sendable (any Error) -> Void)?

    private let memory = LoginMemory()

    /// Creates an authenticator.
    ///
    /// - Parameters:
    ///   - client: The client that renews the token.
    ///   - store: The store of the token. The default is one in memory.
    ///   - leeway: How long before its expiry a token is renewed. The default is 30 seconds.
    ///   - didFailToStore: Called with the error of the store if a renewed token could not be stored, on the task of
    ///     the renewal. The requests succeed with the token, which is lost at the end of the process unless a later
    ///     renewal is stored. The default is nil.
    public init(
        client: OAuthClient, store: any TokenStore = .memory, leeway: Duration = .seconds(30),
        didFailToStore: (@Sendable (any Error) -> Void)? = nil
    ) {
        self.client = client
        self.store = store
        self.leeway = leeway
        self.didFailToStore = didFailToStore
    }

    /// Makes the credential of a session, with the token of the store, if it has one.
    ///
    /// - Parameter origins: The origins whose requests have the token; see `RenewableCredential`.
    /// - Throws: The error of the store.
    public func makeCredential(
        for origins: some Sequence<Origin>
    ) async throws -> RenewableCredential<OAuthAuthenticator> {
        let origins = Set(origins)
        return RenewableCredential(self, memory.present(for: try await store.token()), for: origins)
    }

    /// Adds the token in the Authorization field (RFC 6750, section 2.1).
    public func apply(_ token: OAuthToken, to request: inout SessionRequest) throws {
        do {
            request.headerFields[.authorization] = try AuthorizationValue.bearer(token: token.accessToken)
        } catch {
            throw OAuthError(.invalidConfiguration, error.message)
        }
    }

    /// Whether the token expires within the leeway.
    public func needsRenewal(_ token: OAuthToken) -> Bool { token.expires(within: leeway, of: client.now()) }

    /// Returns the token of the store if it is newer, and renews it otherwise.
    ///
    /// - Throws: An ``OAuthError`` of the issuer or the network, or of the store before the renewal.
    public func renew(_ token: OAuthToken?) async throws -> OAuthToken {
        let change = TokenChange()
        do {
            let renewed = try await store.update { [self] stored in
                let new = try await next(after: stored, token)
                change.note(new, insteadOf: stored)
                return new
            }
            guard let renewed else { throw OAuthError.loginRequired }
            memory.didStore(renewed)
            return renewed
        } catch {
            // The change has succeeded, so the store has failed.
            guard let (new, stored) = change.outcome else { throw error }
            memory.didNotStore(new, insteadOf: stored)
            didFailToStore?(error)
            return new
        }
    }

    /// - Parameters:
    ///   - stored: The token of the store.
    ///   - token: The token of the session.
    private func next(after stored: OAuthToken?, _ token: OAuthToken?) async throws(OAuthError) -> OAuthToken {
        let present = memory.present(for: stored)
        if let present, present.accessToken != token?.accessToken, !needsRenewal(present) { return present }
        // A login that was removed elsewhere has ended, whatever this process still has of it.
        guard present != nil || !memory.hasSeenLogin else { throw .loginRequired }
        guard let last = present ?? token else { return try await tokenForClient() }
        if last.refreshToken != nil { return try await client.refresh(last) }
        // The client must not act for itself in the place of a user.
        guard last.isForClient else { throw .loginRequired }
        return try await tokenForClient()
    }

    private func tokenForClient() async throws(OAuthError) -> OAuthToken {
        guard client.authentication.isConfidential else { throw .loginRequired }
        return try await client.clientCredentialsToken()
    }
}

/// The outcome of the change of a store, which the store may fail to keep.
private final class TokenChange: Sendable {
    private let state = Mutex<(token: OAuthToken, stored: OAuthToken?)?>(nil)

    var outcome: (token: OAuthToken, stored: OAuthToken?)? { state.withLock { $0 } }

    func note(_ token: OAuthToken, insteadOf stored: OAuthToken?) {
        state.withLock { $0 = (token, stored) }
    }
}

extension OAuthError {
    static let loginRequired = OAuthError(
        .loginRequired, "There is no token that can be renewed without the user: log in again.")
}
