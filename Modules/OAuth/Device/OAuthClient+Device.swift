internal import LinnetMessages
internal import LinnetSession

extension OAuthClient {
    /// Logs the user in on another device (RFC 8628), for programs without a browser.
    ///
    /// ```swift
    /// let token = try await client.authorizeDevice { print("Open \($0.verificationURI) and enter \($0.userCode)") }
    /// ```
    /// The issuer is asked in its own interval until the user has answered; a request that times out or cannot be sent
    /// is repeated, after twice the interval (section 3.5).
    ///
    /// - Parameter prompt: Shows the user the page and the code. An error ends the login.
    /// - Returns: The token.
    /// - Throws: An ``OAuthError``: ``OAuthError/Code/accessDenied`` if the user refuses,
    ///   ``OAuthError/Code/expiredToken`` if the code expires first, ``OAuthError/Code/unsupported`` if the issuer has no
    ///   endpoint for it, and the codes of requests; or the error of `prompt`.
    public func authorizeDevice(
        _ prompt: (DeviceAuthorization) async throws -> Void
    ) async throws -> OAuthToken {
        let name = "device authorization endpoint"
        let endpoint = try server.endpoint(server.deviceAuthorizationEndpoint, name)
        let parameters = try scopeParameters() + resourceParameters()
        let beginning = try await DeviceAuthorization(post(parameters, to: endpoint, name).object(), endpoint: name)
        return try await poll(for: beginning, on: clock, prompt)
    }

    private func poll<C: Clock<Duration>>(
        for authorization: DeviceAuthorization, on clock: C, _ prompt: (DeviceAuthorization) async throws -> Void
    ) async throws -> OAuthToken {
        let end = clock.now.advanced(by: authorization.lifetime)
        try await prompt(authorization)
        var interval = authorization.interval
        while true {
            let next = clock.now.advanced(by: interval)
            // The issuer would refuse the code anyway.
            guard next < end else {
                throw OAuthError(.expiredToken, "The code expired before it was entered.")
            }
            do {
                try await clock.sleep(until: next, tolerance: nil)
            } catch {
                throw OAuthError.cancelled
            }
            do throws(OAuthError) {
                return try await token([
                    ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                    ("device_code", authorization.deviceCode),
                ])
            } catch {
                switch error.code {
                case .authorizationPending: break
                case .slowDown: interval += .seconds(5)
                case .timeout: interval *= 2
                case .requestFailed where error.isFailureOfNetwork: interval *= 2
                default: throw error
                }
            }
        }
    }
}

extension OAuthError {
    /// Whether the network failed, so that the same request may succeed later. A session that was shut down, or a
    /// certificate that was refused, would only hide its error behind an expired code.
    fileprivate var isFailureOfNetwork: Bool {
        guard let error = underlying as? SessionError else { return false }
        let codes: [SessionError.Code] = [
            .connectionFailed, .connectionLost, .nameResolutionFailed, .tlsFailed, .circuitOpen, .transportFailed,
        ]
        return codes.contains(error.code)
    }
}
