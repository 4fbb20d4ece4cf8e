internal import HTTPTypes
public import LinnetMessages
public import LinnetSerialization
public import LinnetSession

/// Adds an OAuth token to the requests of a session, and renews it.
///
/// ```swift
/// let rules = OAuthAuthenticator(client: client, store: try FileTokenStore(file))
/// let token = try await rules.makeCredential(for: [Origin("https://api.example.com")!])
/// let api = try HTTPSession { $0.authenticator = .renewing(token) }
/// ```
/// A token is renewed shortly before it expires, and when a server refuses it with the status 401: by its refresh
/// token, or, without one, by the client's own credentials. If another program has renewed it in the same store before,
/// the stored token is used without a renewal.
///
/// A renewal that was begun is completed and stored even if all requests that wait for it are cancelled, because the
/// issuer may accept a refresh token once only (RFC 9700, section 4.14.2). Without a token that can be renewed, requests
/// fail with ``OAuthError/Code/loginRequired`` as the underlying error.
public struct OAuthAuthenticator: Authenticator {
    /// The type of the credential.
    public typealias Credential = OAuthToken

    /// The client that renews the token.
    public let client: OAuthClient
    /// The store of the token.
    public let store: any TokenStore
    /// How long before its expiry a token is renewed. For a token that lives for less than twice as long, half of its
    /// lifetime counts.
    public let leeway: Duration

    /// Creates an authenticator.
    ///
    /// - Parameters:
    ///   - client: The client that renews the token.
    ///   - store: The store of the token. The default is one in memory.
    ///   - leeway: How long before its expiry a token is renewed. The default is 30 seconds.
    public init(client: OAuthClient, store: any TokenStore = .memory, leeway: Duration = .seconds(30)) {
        self.client = client
        self.store = store
        self.leeway = leeway
    }

    /// Makes the credential of a session, with the token of the store, if it has one.
    ///
    /// - Parameter origins: The origins whose requests have the token; see `RenewableCredential`.
    /// - Throws: The error of the store.
    public func makeCredential(
        for origins: some Sequence<Origin>
    ) async throws -> RenewableCredential<OAuthAuthenticator> {
        let origins = Set(origins)
        return RenewableCredential(self, try await store.token(), for: origins)
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
    /// - Throws: An ``OAuthError`` of the issuer, the network or the store.
    public func renew(_ token: OAuthToken?) async throws -> OAuthToken {
        let renewed = try await store.update { [self] stored in
            if let stored, stored.accessToken != token?.accessToken, !needsRenewal(stored) { return stored }
            return try await next(after: stored ?? token)
        }
        guard let renewed else { throw OAuthError.loginRequired }
        return renewed
    }

    private func next(after token: OAuthToken?) async throws(OAuthError) -> OAuthToken {
        if let token, token.refreshToken != nil { return try await client.refresh(token) }
        guard client.authentication.isConfidential else { throw .loginRequired }
        return try await client.clientCredentialsToken()
    }
}

extension OAuthError {
    static let loginRequired = OAuthError(
        .loginRequired, "There is no token that can be renewed without the user: log in again.")
}
