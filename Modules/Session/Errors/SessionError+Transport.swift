internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

extension SessionError {
    /// Creates the session error for a transport's error.
    init(_ error: TransportError, url: URL?) {
        let (code, timeout) = Self.meaning(of: error.code)
        self.init(code, error.message, underlying: error, url: url)
        self.timeout = timeout
        trustRefusal = error.trustRefusal
        // The hook threw instead of providing the identity, so its error is the underlying one.
        if error.code == .clientIdentityUnavailable { underlying = error.underlying ?? error }
        // A body's file that could not be read has its own code, `fileFailed`.
        if error.code == .requestBodyFailed, let cause = error.underlying as? SerializationError,
            cause.underlying is FileFailure
        {
            self = SessionError(cause, url: url)
            underlying = error
        }
    }

    private static let meanings: [TransportError.Code: Code] = [
        .cancelled: .cancelled,
        .nameResolutionFailed: .nameResolutionFailed,
        .connectionFailed: .connectionFailed,
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
