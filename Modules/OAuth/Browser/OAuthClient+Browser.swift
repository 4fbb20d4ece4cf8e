public import FoundationEssentials
internal import LinnetMessages

extension OAuthClient {
    /// Logs the user in with the browser of this machine (RFC 6749, section 4.1; RFC 7636; RFC 8252).
    ///
    /// ```swift
    /// let token = try await client.authorize()
    /// ```
    /// The browser opens the issuer's page, and returns with a code to a port of 127.0.0.1 that listens until the login
    /// ends. The code is exchanged with the proof of PKCE by S256. The state is compared in constant time, and the
    /// issuer of the answer as RFC 9207 says. The first answer with the state counts: a later one, and one with another
    /// state, gets a page with an error, and changes nothing.
    ///
    /// - Parameters:
    ///   - redirectPath: The path of the redirect URI, `http://127.0.0.1:PORT` followed by it, which the client is
    ///     registered with. The default is `/callback`.
    ///   - limit: The longest time to wait for the user. The default is 5 minutes. Exceeding it is
    ///     ``OAuthError/Code/timeout``, or ``OAuthError/Code/stateMismatch`` if only answers with another state came.
    ///   - open: Opens the page. The default is ``openInBrowser(_:)``.
    /// - Returns: The token.
    /// - Throws: An ``OAuthError``: ``OAuthError/Code/accessDenied`` and the other codes of the issuer,
    ///   ``OAuthError/Code/issuerMismatch``, ``OAuthError/Code/timeout`` if no answer came,
    ///   ``OAuthError/Code/stateMismatch`` if only answers with another state came in that time,
    ///   ``OAuthError/Code/unsupported`` if the issuer excludes S256, and the codes of requests; or the error of
    ///   `open`.
    public func authorize(
        redirectPath: String = "/callback", waiting limit: Duration = .seconds(300),
        open: (URL) async throws -> Void = { try await OAuthClient.openInBrowser($0) }
    ) async throws -> OAuthToken {
        let endpoint = try server.endpoint(server.authorizationEndpoint, "authorization endpoint")
        guard server.codeChallengeMethods?.contains("S256") ?? true else {
            throw OAuthError(.unsupported, "\(server.issuer.oneLine) does not support PKCE with S256.")
        }
        guard redirectPath.hasPrefix("/"), redirectPath.utf8.allSatisfy(Self.isPlainInPath) else {
            throw OAuthError(.invalidConfiguration, "\"\(redirectPath.oneLine)\" is not a path for the redirect URI.")
        }
        let parameters = try scopeParameters() + resourceParameters()
        let listener = LoopbackListener(path: redirectPath)
        try await listener.open()
        do {
            let request = AuthorizationRequest(
                redirectURI: "http://127.0.0.1:\(listener.port)\(redirectPath)", server: server)
            listener.judgeAnswers { request.judge($0) }
            try await open(request.url(endpoint, clientID: id, parameters))
            let code = try await answer(of: listener, within: limit)
            let token = try await token([
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", request.redirectURI),
                ("code_verifier", request.verifier),
            ]).asking(for: scopes)
            await listener.close()
            return token
        } catch {
            await listener.close()
            throw error
        }
    }

    private static func isPlainInPath(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || "/-._~".utf8.contains(byte)
    }

    private func answer(of listener: LoopbackListener, within limit: Duration) async throws -> String {
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { try await listener.code() }
            group.addTask { [clock] in
                do {
                    try await clock.sleep(for: limit)
                } catch {
                    throw OAuthError.cancelled
                }
                guard !listener.hasSeenOtherState else {
                    throw OAuthError(
                        .stateMismatch, "The browser answered with the state of another login only, within \(limit).")
                }
                throw OAuthError(.timeout, "The browser did not answer within \(limit).")
            }
            defer { group.cancelAll() }
            guard let code = try await group.next() else { throw OAuthError.cancelled }
            return code
        }
    }
}
