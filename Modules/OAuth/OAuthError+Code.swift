extension OAuthError {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        // MARK: Refusals by the issuer (RFC 6749, sections 4.1.2.1 and 5.2)

        /// The request lacks a parameter, or has an invalid one.
        public static let invalidRequest = Code("invalidRequest")
        /// The client is unknown, or could not be authenticated.
        public static let invalidClient = Code("invalidClient")
        /// The refresh token or the code is invalid, expired, revoked or another client's: a new login is required.
        public static let invalidGrant = Code("invalidGrant")
        /// The client may not use this grant.
        public static let unauthorizedClient = Code("unauthorizedClient")
        /// The issuer does not support the grant.
        public static let unsupportedGrantType = Code("unsupportedGrantType")
        /// The issuer does not support the response type `code`.
        public static let unsupportedResponseType = Code("unsupportedResponseType")
        /// A scope is invalid, unknown, or beyond what was granted.
        public static let invalidScope = Code("invalidScope")
        /// The user, or the issuer, denied the authorization.
        public static let accessDenied = Code("accessDenied")
        /// The issuer failed.
        public static let serverError = Code("serverError")
        /// The issuer is overloaded or being maintained.
        public static let temporarilyUnavailable = Code("temporarilyUnavailable")
        /// The resource is invalid or unknown (RFC 8707, section 2).
        public static let invalidTarget = Code("invalidTarget")
        /// The issuer cannot revoke tokens of this type (RFC 7009, section 2.2.1).
        public static let unsupportedTokenType = Code("unsupportedTokenType")
        /// The issuer answered with another error code; see ``OAuthError/errorResponse``.
        public static let otherErrorResponse = Code("otherErrorResponse")

        // MARK: Device authorization (RFC 8628, section 3.5)

        /// The user has not yet answered. A device login waits, and does not end with this error.
        public static let authorizationPending = Code("authorizationPending")
        /// The issuer was asked too often. A device login waits for longer, and does not end with this error.
        public static let slowDown = Code("slowDown")
        /// The device code expired before the user answered.
        public static let expiredToken = Code("expiredToken")

        // MARK: Answers that are not used

        /// The answer is not what the RFC requires, for example because it is HTML or has an invalid lifetime.
        public static let invalidResponse = Code("invalidResponse")
        /// The answer has more than 1 MiB, or a token of more than 64 KiB.
        public static let tooLarge = Code("tooLarge")
        /// The endpoint answered with a redirect, which is not followed because requests to it have credentials.
        public static let redirectRefused = Code("redirectRefused")
        /// All answers of the browser had another state than the login.
        public static let stateMismatch = Code("stateMismatch")
        /// The metadata, or the answer of the browser, is another issuer's (RFC 8414, section 3.3; RFC 9207).
        public static let issuerMismatch = Code("issuerMismatch")

        // MARK: The client

        /// The client's settings are invalid, for example because a scope contains a space.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// The URL of the issuer or of an endpoint is not https, and its host is not this machine.
        public static let insecureEndpoint = Code("insecureEndpoint")
        /// The metadata of the issuer has no endpoint for the request, or excludes PKCE with S256.
        public static let unsupported = Code("unsupported")
        /// There is no token, or none that can be renewed without the user.
        public static let loginRequired = Code("loginRequired")
        /// The browser could not be opened.
        public static let browserUnavailable = Code("browserUnavailable")
        /// The port for the answer of the browser could not be opened.
        public static let listenerFailed = Code("listenerFailed")
        /// The request failed; the underlying error is a `SessionError`.
        public static let requestFailed = Code("requestFailed")
        /// The issuer, the user in the browser, or the token store did not answer in time.
        public static let timeout = Code("timeout")
        /// The task of the caller was cancelled.
        public static let cancelled = Code("cancelled")

        // MARK: Token stores

        /// The token file is another user's, can be read by others, or is not a regular file. It is left unchanged.
        public static let untrustedTokenFile = Code("untrustedTokenFile")
        /// The token file, or the item of another store, is damaged. It is left unchanged.
        public static let damagedTokenFile = Code("damagedTokenFile")
        /// The store cannot be read or written.
        public static let tokenStoreFailed = Code("tokenStoreFailed")
        /// The store is not there, for example because no Secret Service runs.
        public static let tokenStoreUnavailable = Code("tokenStoreUnavailable")
        /// The store is locked, and the user did not unlock it.
        public static let tokenStoreLocked = Code("tokenStoreLocked")

        private static let codes: [String: Code] = [
            "invalid_request": .invalidRequest, "invalid_client": .invalidClient, "invalid_grant": .invalidGrant,
            "unauthorized_client": .unauthorizedClient, "unsupported_grant_type": .unsupportedGrantType,
            "unsupported_response_type": .unsupportedResponseType, "invalid_scope": .invalidScope,
            "access_denied": .accessDenied, "server_error": .serverError,
            "temporarily_unavailable": .temporarilyUnavailable, "invalid_target": .invalidTarget,
            "unsupported_token_type": .unsupportedTokenType, "authorization_pending": .authorizationPending,
            "slow_down": .slowDown, "expired_token": .expiredToken,
        ]

        /// The code of an error response.
        init(rfc error: String) { self = Self.codes[error] ?? .otherErrorResponse }
    }
}
