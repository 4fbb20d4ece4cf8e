internal import LinnetMessages
internal import LinnetSession

extension OAuthClient {
    /// Logs the user in on another device (RFC 8628), for programs without a browser.
    ///
    /// ```swift
    /// let token = try await client.authorizeDevice { print("Open \($0.verificationURI) and enter \($0.userCode)") }
    /// ```
    /// The issuer is asked in its own interval until the user has answered or the code expires. After a request that
    /// failed for a while, by a timeout, a connection, the status 429, 500, 502, 503 or 504, or an error of the issuer
    /// itself, the interval is doubled, up to a minute (section 3.5).
    ///
    /// - Parameter prompt: Shows the user the page and the code. An error ends the login.
    /// - Returns: The token.
    /// - Throws: An ``OAuthError``: ``OAuthError/Code/accessDenied`` if the user refuses,
    ///   ``OAuthError/Code/expiredToken`` if the code expires first, with the failure of the last request if it failed,
    ///   ``OAuthError/Code/unsupported`` if the issuer has no
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

    /// The longest interval that failures lead to.
    private static var longestInterval: Duration { .seconds(60) }

    private func poll<C: Clock<Duration>>(
        for authorization: DeviceAuthorization, on clock: C, _ prompt: (DeviceAuthorization) async throws -> Void
    ) async throws -> OAuthToken {
        let end = clock.now.advanced(by: authorization.lifetime)
        try await prompt(authorization)
        var interval = authorization.interval
        var failure: OAuthError?
        while true {
            let next = clock.now.advanced(by: interval)
            // The issuer would refuse the code anyway.
            guard next < end else { throw OAuthError.expired(after: failure) }
            do {
                try await clock.sleep(until: next, tolerance: nil)
            } catch {
                throw OAuthError.cancelled
            }
            do throws(OAuthError) {
                return try await token([
                    ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                    ("device_code", authorization.deviceCode),
                ]).asking(for: scopes)
            } catch {
                switch error.code {
                case .authorizationPending: failure = nil
                case .slowDown:
                    failure = nil
                    interval += .seconds(5)
                default:
                    guard error.isPassing else { throw error }
                    failure = error
                    interval = max(interval, min(interval * 2, Self.longestInterval))
                }
            }
        }
    }
}

extension OAuthError {
    /// Whether the same request may succeed later.
    fileprivate var isPassing: Bool {
        switch code {
        case .timeout, .serverError, .temporarilyUnavailable: true
        case .invalidResponse, .otherErrorResponse: [429, 500, 502, 503, 504].contains(status)
        default: isFailureOfNetwork
        }
    }

    /// The error of a code that expired.
    fileprivate static func expired(after failure: OAuthError?) -> OAuthError {
        guard let failure else { return OAuthError(.expiredToken, "The code expired before it was entered.") }
        return OAuthError(
            .expiredToken, "The code expired, and the last request for the token failed: \(failure.message)",
            underlying: failure)
    }

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
