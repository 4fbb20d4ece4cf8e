public import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSession

/// The error of an OAuth request, of a login, or of a token store.
///
/// The `code` distinguishes the issuer's refusals, by the codes of its RFCs, from answers that cannot be understood,
/// and from failures of the network and of token files. No error contains a token, a secret or a code.
public struct OAuthError: Error, Sendable {
    /// The kind of failure.
    public var code: Code
    /// A message of one line for people.
    public var message: String
    /// The issuer's description of its refusal, if it sent one.
    public var errorResponse: ErrorResponse?
    /// The status of the issuer's response, if it was received.
    public var status: Int?
    /// The underlying error, such as a `SessionError` or a `FileFailure`. A `SessionError` has neither the body nor the
    /// fields of its response, which may contain tokens.
    public var underlying: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, errorResponse: ErrorResponse? = nil, status: Int? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.errorResponse = errorResponse
        self.status = status
        self.underlying = underlying
    }
}

extension OAuthError {
    /// The error response of an issuer (RFC 6749, section 5.2).
    ///
    /// The texts are the issuer's. They have one line of at most 256 characters, with escapes for control characters.
    public struct ErrorResponse: Sendable, Hashable {
        /// The error code, such as `invalid_grant`.
        public let error: String
        /// The description for developers, if any.
        public let description: String?
        /// The address of a page about the error, if any.
        public let uri: String?

        init(error: String, description: String?, uri: String?) {
            self.error = error.oneLine
            self.description = description?.oneLine
            self.uri = uri?.oneLine
        }

        var text: String { description.map { "\(error): \($0)" } ?? error }
    }
}

extension OAuthError: CustomStringConvertible, LocalizedError {
    /// The message with the code.
    public var description: String {
        let sentence = message.hasSuffix(".") ? String(message.dropLast()) : message
        return "\(sentence) (\(code))."
    }

    /// The message, for display to the user.
    public var errorDescription: String? { message }
}

extension OAuthError {
    /// Converts the error of a request to an endpoint.
    init(_ error: SessionError, endpoint: String) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .timeout: .timeout
            case .bodyTooLarge: .tooLarge
            case .redirectRefused, .tooManyRedirects: .redirectRefused
            default: .requestFailed
            }
        self.init(
            code, "The request to the \(endpoint) failed: \(error.message)", status: error.head?.status.code,
            underlying: error.withoutContents)
    }

    /// An error response, whose code decides on the error's.
    init(_ response: ErrorResponse, endpoint: String, status: Int? = nil) {
        self.init(
            Code(rfc: response.error), "The \(endpoint) answered with an error: \(response.text)",
            errorResponse: response, status: status)
    }

    static func invalidResponse(_ endpoint: String, _ problem: String, status: Int? = nil) -> OAuthError {
        OAuthError(.invalidResponse, "The answer of the \(endpoint) is invalid: \(problem).", status: status)
    }

    /// The error for one that was thrown while the browser was opened.
    init(openingBrowser error: any Error) {
        switch error {
        case let error as OAuthError: self = error
        case is CancellationError: self = .cancelled
        default: self.init(.browserUnavailable, "The browser could not be opened: \(error)", underlying: error)
        }
    }

    package static let cancelled = OAuthError(.cancelled, "The task of the caller was cancelled.")
}

extension SessionError {
    /// The error without the body and the fields of its response.
    fileprivate var withoutContents: SessionError {
        var error = self
        error.body = nil
        error.resumeData = nil
        error.head?.headerFields = [:]
        if let inner = error.underlying as? SessionError { error.underlying = inner.withoutContents }
        return error
    }
}
