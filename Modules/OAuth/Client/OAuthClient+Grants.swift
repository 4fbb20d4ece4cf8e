internal import LinnetJSON
internal import LinnetMessages
internal import LinnetSession
internal import LinnetTransport

extension OAuthClient {
    /// Gets a new token for a refresh token (RFC 6749, section 6).
    ///
    /// An issuer that rotates refresh tokens accepts each of them once, so the result must replace the token;
    /// ``OAuthAuthenticator`` with a ``TokenStore`` takes care of that, also across processes. If the answer has no
    /// refresh token, the result has the earlier one.
    ///
    /// The request has a connection of its own, so that an immediate shutdown of the client's session does not end it:
    /// the issuer may have replaced the refresh token by then. Over a custom transport, the shutdown ends it.
    ///
    /// - Parameter token: The token to renew.
    /// - Returns: The new token.
    /// - Throws: An ``OAuthError``: ``OAuthError/Code/loginRequired`` if the token has no refresh token, and
    ///   ``OAuthError/Code/invalidGrant`` if the issuer does not accept it.
    public func refresh(_ token: OAuthToken) async throws(OAuthError) -> OAuthToken {
        guard let refreshToken = token.refreshToken else { throw .loginRequired }
        var new = try await lasting { client async throws(OAuthError) in
            try await client.token([("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
        }
        if new.refreshToken == nil { new.refreshToken = refreshToken }
        if new.scopes == nil { new.scopes = token.scopes }
        new.isForClient = token.isForClient
        return new
    }

    /// Makes an exchange that an immediate shutdown of the session does not end.
    private func lasting(
        _ exchange: (OAuthClient) async throws(OAuthError) -> OAuthToken
    ) async throws(OAuthError) -> OAuthToken {
        guard let session = session.copyForLastingExchange() else { return try await exchange(self) }
        // The token must not wait for the end of the connection.
        defer { session.startShutdown(.graceful) }
        return try await exchange(with(session))
    }

    /// Gets a token for the client itself (RFC 6749, section 4.4), with ``OAuthToken/isForClient``.
    ///
    /// - Throws: An ``OAuthError``: ``OAuthError/Code/invalidConfiguration`` if the client has no secret.
    public func clientCredentialsToken() async throws(OAuthError) -> OAuthToken {
        guard authentication.isConfidential else {
            throw OAuthError(.invalidConfiguration, "A client without a secret cannot get a token for itself.")
        }
        var token = try await token([("grant_type", "client_credentials")] + scopeParameters()).asking(for: scopes)
        token.isForClient = true
        return token
    }

    /// Gets a token from the token endpoint.
    ///
    /// - Parameter parameters: The parameters of the grant.
    func token(_ parameters: [(String, String)]) async throws(OAuthError) -> OAuthToken {
        let name = "token endpoint"
        let endpoint = try server.endpoint(server.tokenEndpoint, name)
        let object = try await post(parameters + resourceParameters(), to: endpoint, name).object()
        return try OAuthToken(object, at: now(), endpoint: name)
    }

    /// The scopes as a parameter.
    func scopeParameters() throws(OAuthError) -> [(String, String)] {
        for scope in scopes {
            // scope-token of RFC 6749, appendix A.4.
            guard !scope.isEmpty, scope.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != 0x22 && $0 != 0x5C }) else {
                throw OAuthError(.invalidConfiguration, "\"\(scope.oneLine)\" is not a scope.")
            }
        }
        return scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))]
    }

    /// The resources as parameters (RFC 8707, section 2).
    func resourceParameters() throws(OAuthError) -> [(String, String)] {
        for resource in resources where resource.utf8.contains(UInt8(ascii: "#")) || !resource.utf8.contains(0x3A) {
            throw OAuthError(
                .invalidConfiguration,
                "\"\(resource.oneLine)\" is not a resource, which is an absolute URI without fragment.")
        }
        return resources.map { ("resource", $0) }
    }
}
