extension OAuthClient {
    /// Revokes a token (RFC 7009): its refresh token, with which issuers end its access tokens too, or, without one,
    /// its access token. Remove the token from its store as well.
    ///
    /// A token that the issuer does not know is no error.
    ///
    /// - Throws: An ``OAuthError``: ``OAuthError/Code/unsupported`` if the issuer has no revocation endpoint, and
    ///   ``OAuthError/Code/unsupportedTokenType`` if it cannot revoke such tokens.
    public func revoke(_ token: OAuthToken) async throws(OAuthError) {
        let name = "revocation endpoint"
        let endpoint = try server.endpoint(server.revocationEndpoint, name)
        let parameters =
            if let refreshToken = token.refreshToken {
                [("token", refreshToken), ("token_type_hint", "refresh_token")]
            } else {
                [("token", token.accessToken), ("token_type_hint", "access_token")]
            }
        _ = try await post(parameters, to: endpoint, name).successOrError()
    }
}
