package import FoundationEssentials
internal import LinnetAuthentication
internal import LinnetMessages
internal import LinnetMultipart
package import LinnetSerialization
internal import LinnetTransport

extension SessionError {
    /// Creates the session error for an error that an interceptor or the transport threw.
    init(thrown error: any Error, url: URL?) {
        switch error {
        case let error as SessionError: self = error
        case let error as TransportError: self.init(error, url: url)
        case let error as SerializationError: self.init(error, url: url)
        case let error as AuthenticationError: self.init(error, url: url)
        case is CancellationError: self = .cancelled(url)
        default:
            self.init(.interceptorFailed, "An interceptor failed: \(Self.cause(error))", underlying: error, url: url)
        }
    }

    /// Creates the session error for an invalid credential, or a server that does not know it.
    init(_ error: AuthenticationError, url: URL?) {
        let code = error.code == .wrongServerProof ? Code.invalidResponse : .invalidRequest
        self.init(code, error.message, underlying: error, url: url)
    }

    /// Creates the session error for a file failure.
    init(_ failure: FileFailure, url: URL?) {
        self.init(.fileFailed, "\(failure)", underlying: failure, url: url)
        fileFailure = failure
    }

    static func cancelled(_ url: URL?) -> SessionError {
        SessionError(.cancelled, "The request was cancelled.", url: url)
    }

    static func shutDown(_ url: URL?) -> SessionError {
        SessionError(.shutDown, "The session was shut down.", url: url)
    }

    static func invalidURL(_ message: String, _ url: URL?) -> SessionError {
        SessionError(.invalidURL, message, url: url)
    }

    static func bodyHasReader(_ url: URL?) -> SessionError {
        SessionError(
            .bodyHasReader,
            "The body already has a reader; a streamed body can be read only once, by one task at a time.", url: url)
    }

    static func timedOut(_ timeout: Timeout, _ url: URL?) -> SessionError {
        var error = SessionError(.timeout, "The request took longer than its timeout.", url: url)
        error.timeout = timeout
        return error
    }

    /// Creates the error for the timeout that caused an error, with that error's facts about the request.
    func timedOut(_ timeout: Timeout, _ url: URL?) -> SessionError {
        var error = Self.timedOut(timeout, url).adding(metrics: metrics)
        error.head = head
        error.redirects = redirects
        error.resumeData = resumeData
        return error
    }

    /// Returns the error with the response's URL, head, metrics and redirects, without replacing facts that it has.
    func adding(_ response: StreamedResponse) -> SessionError {
        var error = self
        error.url = error.url ?? response.url.withoutUserInfo
        error.head = error.head ?? response.head
        if error.metrics.isEmpty { error.metrics = response.attempts }
        if error.redirects.isEmpty { error.redirects = response.redirects }
        return error
    }

    /// Returns the error with the metrics of earlier attempts before its own.
    func adding(_ attempts: [TransportMetrics]) -> SessionError {
        guard !attempts.isEmpty else { return self }
        var error = self
        error.metrics = attempts + metrics
        return error
    }

    /// Returns the error with the metrics of the attempts, if it has none.
    func adding(metrics: [TransportMetrics]) -> SessionError {
        guard self.metrics.isEmpty, !metrics.isEmpty else { return self }
        var error = self
        error.metrics = metrics
        return error
    }
}

extension SessionError {
    /// Creates the session error for the failure of a response's body.
    init(ofBody error: TransportError, url: URL?) {
        self.init(error, url: url)
        isOfBody = true
    }

    /// Creates the session error for a transport's error.
    init(_ error: TransportError, url: URL?) {
        let (code, timeout) = Self.meaning(of: error.code)
        self.init(code, error.message, underlying: error, url: url)
        self.timeout = timeout
        trustRefusal = error.trustRefusal
        // The hook threw instead of providing the identity, so its error is the underlying one.
        if error.code == .clientIdentityUnavailable { underlying = error.underlying ?? error }
        // An unreadable file as the body, or as a part of a form, has the code `fileFailed`.
        guard error.code == .requestBodyFailed else { return }
        if let cause = error.underlying as? SerializationError, cause.underlying is FileFailure {
            self = SessionError(cause, url: url)
            underlying = error
        } else if let cause = error.underlying as? MultipartError, let failure = cause.underlying as? FileFailure {
            self.code = .fileFailed
            fileFailure = failure
        }
    }

    private static let meanings: [TransportError.Code: Code] = [
        .cancelled: .cancelled,
        .nameResolutionFailed: .nameResolutionFailed,
        .connectionFailed: .connectionFailed,
        .localAddressUnavailable: .connectionFailed,
        .proxyConnectionFailed: .connectionFailed,
        .proxyRefused: .connectionFailed,
        .proxyAuthenticationRequired: .proxyAuthenticationRequired,
        .connectionClosed: .connectionLost,
        .streamReset: .connectionLost,
        .pingTimeout: .connectionLost,
        .tlsTruncated: .connectionLost,
        .tlsHandshakeFailed: .tlsFailed,
        .tlsProtocolError: .tlsFailed,
        .clientCertificateRequired: .clientCertificateRequired,
        .clientCertificateRefused: .clientCertificateRefused,
        .clientIdentityUnavailable: .hookFailed,
        .trustRefused: .trustRefused,
        .cleartextRefused: .trustRefused,
        .invalidResponse: .invalidResponse,
        .headTooLarge: .invalidResponse,
        .tooManyInformationalResponses: .invalidResponse,
        .bodyTooLarge: .bodyTooLarge,
        .bodyHasReader: .bodyHasReader,
        .invalidRequest: .invalidRequest,
        .requestBodyFailed: .requestBodyFailed,
        .invalidConfiguration: .invalidConfiguration,
        .shutDown: .shutDown,
    ]

    private static let timeouts: [TransportError.Code: Timeout] = [
        .poolTimeout: .poolWait,
        .connectTimeout: .connect,
        .tlsTimeout: .tlsHandshake,
        .readTimeout: .idleRead,
        .writeTimeout: .idleWrite,
        .requestTimeout: .request,
    ]

    private static func meaning(of code: TransportError.Code) -> (Code, Timeout?) {
        if let timeout = timeouts[code] { return (.timeout, timeout) }
        return (meanings[code] ?? .transportFailed, nil)
    }
}

extension SessionError {
    /// Creates the session error for a serializer's error.
    package init(_ error: SerializationError, url: URL?) {
        self.init(Self.meaning(of: error), error.message, underlying: error, url: url)
        head = error.response?.head
        body = error.response?.body
        fileFailure = error.underlying as? FileFailure
    }

    private static let meaningsOfSerialization: [SerializationError.Code: Code] = [
        .unacceptableStatus: .unacceptableStatus,
        .unacceptableContentType: .unacceptableContentType,
        .unacceptableResponse: .unacceptableResponse,
        .emptyBody: .decodingFailed,
        .decodingFailed: .decodingFailed,
        .encodingFailed: .encodingFailed,
        .invalidParameters: .invalidParameters,
        .invalidHeader: .invalidRequest,
        .invalidURL: .invalidURL,
        .bodyNotReplayable: .requestBodyFailed,
        .bodyFileUnreadable: .fileFailed,
        .bodyFileChanged: .fileFailed,
    ]

    private static func meaning(of error: SerializationError) -> Code {
        meaningsOfSerialization[error.code] ?? (error.response == nil ? .encodingFailed : .decodingFailed)
    }
}
