public import LinnetSecurity

/// Why a request failed below HTTP's status codes.
public struct TransportError: Error, Sendable {
    /// What kind of failure it was.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The caller's task, or the request, was cancelled.
        public static let cancelled = Code("cancelled")
        /// No connection became free in time.
        public static let poolTimeout = Code("poolTimeout")
        /// The connection could not be opened in time.
        public static let connectTimeout = Code("connectTimeout")
        /// The TLS handshake took too long.
        public static let tlsTimeout = Code("tlsTimeout")
        /// The server sent nothing for too long.
        public static let readTimeout = Code("readTimeout")
        /// The server took nothing for too long.
        public static let writeTimeout = Code("writeTimeout")
        /// The whole request took too long.
        public static let requestTimeout = Code("requestTimeout")
        /// The host's name has no address.
        public static let nameResolutionFailed = Code("nameResolutionFailed")
        /// No address of the host could be connected to.
        public static let connectionFailed = Code("connectionFailed")
        /// The connection ended before the response was complete.
        public static let connectionClosed = Code("connectionClosed")
        /// The server reset the request's stream; the message has HTTP/2's error code (RFC 9113, 7).
        public static let streamReset = Code("streamReset")
        /// The server sent nothing for too long, and did not answer a PING (RFC 9113, 6.7).
        public static let pingTimeout = Code("pingTimeout")
        /// The TLS handshake failed for another reason than trust.
        public static let tlsHandshakeFailed = Code("tlsHandshakeFailed")
        /// TLS failed after the handshake: a bad record, an alert, a forbidden renegotiation.
        public static let tlsProtocolError = Code("tlsProtocolError")
        /// The connection ended without TLS's close_notify where the body's end depended on it (RFC 8446, 6.1).
        public static let tlsTruncated = Code("tlsTruncated")
        /// The server requires a client certificate, and got none. Under TLS 1.3 it says so when the handshake is over, and
        /// the request may have been sent meanwhile; it has not been served.
        public static let clientCertificateRequired = Code("clientCertificateRequired")
        /// The server refused the client's certificate: expired, revoked, by an authority that it does not know.
        public static let clientCertificateRefused = Code("clientCertificateRefused")
        /// The server asked for a client certificate, and whoever was to choose one (`ClientIdentityPolicy.asking(_:)`) threw an
        /// error, which is the underlying one, or chose one that OpenSSL refuses. The server got none.
        public static let clientIdentityUnavailable = Code("clientIdentityUnavailable")
        /// The security policy refused the server's certificate chain; see ``TransportError/trustRefusal``.
        public static let trustRefused = Code("trustRefused")
        /// The request would go to the host in clear text, which the security policy does not allow
        /// (`SecurityPolicy.allowsCleartext(to:)`).
        public static let cleartextRefused = Code("cleartextRefused")
        /// The server's bytes are not HTTP, or break its rules.
        public static let invalidResponse = Code("invalidResponse")
        /// The response's head is larger than the limit, in bytes or in fields.
        public static let headTooLarge = Code("headTooLarge")
        /// The server sent more informational responses than the limit.
        public static let tooManyInformationalResponses = Code("tooManyInformationalResponses")
        /// The body is larger than the limit.
        public static let bodyTooLarge = Code("bodyTooLarge")
        /// A body was read by two at once; the first goes on, the second fails with this.
        public static let bodyHasReader = Code("bodyHasReader")
        /// The request cannot be sent as it is: no authority, an unknown scheme, a forbidden header field.
        public static let invalidRequest = Code("invalidRequest")
        /// The request's body failed to produce its bytes, or produced another number of them than it said.
        public static let requestBodyFailed = Code("requestBodyFailed")
        /// The configuration cannot be enforced.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// The transport was shut down.
        public static let shutDown = Code("shutDown")
    }

    /// What kind of failure it was.
    public var code: Code
    /// One line that a person can act on.
    public var message: String
    /// The error below, where there is one.
    public var underlying: (any Error)?
    /// Why the policy refused the chain, for ``Code/trustRefused``.
    public var trustRefusal: TrustRefusal? {
        get { refusal?.value }
        set { refusal = newValue.map { Boxed($0) } }
    }
    /// The host and port that the request went to.
    public var endpoint: String?
    /// What each attempt cost that the transport made, in order, each with its ``TransportMetrics/failure``; empty where none
    /// was begun.
    public var attempts: [TransportMetrics] = []
    private var refusal: Boxed<TrustRefusal>?

    /// Makes an error.
    public init(
        _ code: Code, _ message: String, underlying: (any Error)? = nil, trustRefusal: TrustRefusal? = nil,
        endpoint: String? = nil
    ) {
        self.code = code
        self.message = message
        self.underlying = underlying
        self.trustRefusal = trustRefusal
        self.endpoint = endpoint
    }
}

extension TransportError: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
