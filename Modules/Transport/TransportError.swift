public import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
public import LinnetSecurity
internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An error below the level of HTTP status codes.
public struct TransportError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The task or the request was cancelled.
        public static let cancelled = Code("cancelled")
        /// No connection became available in time.
        public static let poolTimeout = Code("poolTimeout")
        /// The connection could not be opened in time.
        public static let connectTimeout = Code("connectTimeout")
        /// The TLS handshake took too long.
        public static let tlsTimeout = Code("tlsTimeout")
        /// The server sent nothing within the idle timeout.
        public static let readTimeout = Code("readTimeout")
        /// The server accepted nothing within the idle timeout.
        public static let writeTimeout = Code("writeTimeout")
        /// The whole request took too long.
        public static let requestTimeout = Code("requestTimeout")
        /// The host's name has no address, or could not be looked up: no name server answered, or too many lookups wait
        /// for one.
        public static let nameResolutionFailed = Code("nameResolutionFailed")
        /// No connection to any address of the host, or to its unix socket, could be opened.
        public static let connectionFailed = Code("connectionFailed")
        /// A socket could not be bound to the configuration's local address or network interface: the machine does not
        /// have it, or the process has no permission. The underlying error is the system's.
        public static let localAddressUnavailable = Code("localAddressUnavailable")
        /// The proxy could not be connected to, closed the connection, or does not speak its protocol; or no proxy
        /// could be chosen. The underlying error says more.
        public static let proxyConnectionFailed = Code("proxyConnectionFailed")
        /// The proxy requires a user name and a password, or did not accept the given ones.
        public static let proxyAuthenticationRequired = Code("proxyAuthenticationRequired")
        /// The proxy refused to connect to the origin; a ``Proxy/Refusal`` underlies the error.
        public static let proxyRefused = Code("proxyRefused")
        /// The connection ended before the response was complete.
        public static let connectionClosed = Code("connectionClosed")
        /// The server reset the request's stream; the message contains the HTTP/2 error code (RFC 9113, 7).
        public static let streamReset = Code("streamReset")
        /// The server sent nothing and did not answer a PING in time (RFC 9113, 6.7).
        public static let pingTimeout = Code("pingTimeout")
        /// The TLS handshake failed for a reason other than trust.
        public static let tlsHandshakeFailed = Code("tlsHandshakeFailed")
        /// TLS failed after the handshake: an invalid record, an alert, a forbidden renegotiation.
        public static let tlsProtocolError = Code("tlsProtocolError")
        /// The connection ended without close_notify, which the end of the body depended on (RFC 8446, 6.1).
        public static let tlsTruncated = Code("tlsTruncated")
        /// The server requires a client certificate and got none. Under TLS 1.3 the server reports this after the
        /// handshake, possibly after the request was sent; the request was not served.
        public static let clientCertificateRequired = Code("clientCertificateRequired")
        /// The server refused the client certificate, for example as expired, revoked, or issued by an unknown
        /// authority.
        public static let clientCertificateRefused = Code("clientCertificateRefused")
        /// The function that chooses a client identity (`ClientIdentityPolicy.asking(_:)`) threw the underlying error
        /// or returned an identity that OpenSSL refuses. No certificate was sent.
        public static let clientIdentityUnavailable = Code("clientIdentityUnavailable")
        /// The security policy refused the server's certificate chain; see ``TransportError/trustRefusal``.
        public static let trustRefused = Code("trustRefused")
        /// The security policy does not allow clear text to the host (`SecurityPolicy.allowsCleartext(to:)`).
        public static let cleartextRefused = Code("cleartextRefused")
        /// The server's response is not valid HTTP.
        public static let invalidResponse = Code("invalidResponse")
        /// The response's head is larger than the limit, in bytes or in fields.
        public static let headTooLarge = Code("headTooLarge")
        /// The server sent more informational responses than the limit.
        public static let tooManyInformationalResponses = Code("tooManyInformationalResponses")
        /// The body is larger than the limit.
        public static let bodyTooLarge = Code("bodyTooLarge")
        /// A streamed body, which has one reader, was read a second time: while the first reader was at work, or later.
        public static let bodyHasReader = Code("bodyHasReader")
        /// The request is invalid: no authority, an unknown scheme, a forbidden header field.
        public static let invalidRequest = Code("invalidRequest")
        /// The request body threw an error, or produced a number of bytes other than its length.
        public static let requestBodyFailed = Code("requestBodyFailed")
        /// The configuration cannot be enforced.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// The transport was shut down.
        public static let shutDown = Code("shutDown")

        /// All codes.
        package static let all: [Code] = [
            .cancelled, .poolTimeout, .connectTimeout, .tlsTimeout,
            .readTimeout, .writeTimeout, .requestTimeout, .nameResolutionFailed,
            .connectionFailed, .localAddressUnavailable, .proxyConnectionFailed, .proxyAuthenticationRequired,
            .proxyRefused, .connectionClosed, .streamReset, .pingTimeout,
            .tlsHandshakeFailed, .tlsProtocolError, .tlsTruncated, .clientCertificateRequired,
            .clientCertificateRefused, .clientIdentityUnavailable, .trustRefused, .cleartextRefused,
            .invalidResponse, .headTooLarge, .tooManyInformationalResponses, .bodyTooLarge,
            .bodyHasReader, .invalidRequest, .requestBodyFailed, .invalidConfiguration,
            .shutDown,
        ]
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence with the failure and its remedy.
    public var message: String
    /// The underlying error, if there is one.
    public var underlying: (any Error)?
    /// The refusal of the policy, for ``Code/trustRefused``.
    public var trustRefusal: TrustRefusal? {
        get { refusal?.value }
        set { refusal = newValue.map { Boxed($0) } }
    }
    /// The host and port of the request, or of the proxy that failed.
    public var endpoint: String?
    /// The metrics of each attempt, in order, each with its ``TransportMetrics/failure``; empty if no attempt was
    /// started.
    public var attempts: [TransportMetrics] = []
    private var refusal: Boxed<TrustRefusal>?

    /// Creates an error.
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
    /// The message.
    public var description: String { message }
}

extension TransportError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

extension TransportError {
    /// Translates an error from opening a socket.
    init(connecting error: any Error, to origin: Origin) {
        let place = origin.endpoint
        switch error {
        case let error as TransportError:
            self = error
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            let cause = error.dnsAAAAError ?? error.dnsAError
            let known = cause as? TransportError
            self.init(
                known?.code ?? .nameResolutionFailed, known?.message ?? "\"\(origin.host)\" has no address.",
                underlying: cause)
        case let error as NIOConnectionError:
            if let known = error.connectionErrors.lazy.compactMap({ $0.error as? TransportError }).first {
                self = known
                break
            }
            let reasons = Set(error.connectionErrors.map { Self.reason($0.error) }).sorted().joined(separator: "; ")
            self.init(
                .connectionFailed, "The connection to \(place) could not be opened: \(reasons).", underlying: error)
        case ChannelError.connectTimeout:
            self.init(.connectTimeout, "\(place) did not answer in time.", underlying: error)
        default:
            self.init(
                .connectionFailed, "The connection to \(place) could not be opened: \(Self.reason(error)).",
                underlying: error)
        }
        endpoint = place
    }

    /// Translates an error from opening a unix socket.
    init(connecting error: any Error, to place: UnixSockets.Place, of origin: Origin) {
        let what = "The unix socket \(place.path.debugDescription) of \(origin.endpoint)"
        switch error {
        case let error as TransportError:
            self = error
        case ChannelError.connectTimeout:
            self.init(.connectTimeout, "\(what) did not accept a connection in time.", underlying: error)
        default:
            self.init(
                .connectionFailed, "\(what) could not be connected to: \(Self.reason(error)).", underlying: error)
        }
        endpoint = origin.endpoint
    }

    /// The error with the endpoint of the request.
    func at(_ origin: Origin) -> TransportError {
        var error = self
        error.endpoint = endpoint ?? origin.endpoint
        return error
    }

    /// Whether another attempt to open the connection may succeed: the server closed this one before it could be used,
    /// or its unix socket had no room for another one. A refused connection, a TLS alert and a refused chain are final.
    var mayPass: Bool {
        if code == .connectionClosed { return true }
        let causes =
            (underlying as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [underlying].compactMap { $0 }
        return code == .connectionFailed
            && causes.contains {
                [ECONNRESET, EAGAIN].contains(($0 as? IOError)?.errnoCode)
            }
    }

    /// The text of an error as the end of a sentence.
    static func cause(_ error: any Error) -> String {
        let text = "\(error)"
        return text.hasSuffix(".") ? text : text + "."
    }

    /// The system's error text without NIO's description.
    static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}

extension TransportError {
    static var staleConnection: TransportError {
        TransportError(.connectionClosed, "The server closed the connection before the request was sent.")
    }

    static var truncated: TransportError {
        TransportError(
            .tlsTruncated, "The connection ended without close_notify; the response may be incomplete.")
    }

    static func connectionClosed(afterBytes: Bool) -> TransportError {
        TransportError(
            .connectionClosed,
            afterBytes
                ? "The server closed the connection before the response was complete."
                : "The server closed the connection without a response.")
    }

    init(_ failure: HTTP1StateMachine.Failure) {
        switch failure {
        case .unexpectedResponse:
            self.init(.invalidResponse, "The server sent a response without a request.")
        case .switchedProtocols:
            self.init(.invalidResponse, "The server switched to another protocol, which the request did not ask for.")
        }
    }

    init(_ error: HTTP1SyntaxError) {
        switch error {
        case .headTooLarge:
            self.init(.headTooLarge, "The response head exceeds the size limit.", underlying: error)
        case .tooManyFields:
            self.init(.headTooLarge, "The response head exceeds the limit on fields.", underlying: error)
        case .tooManyInformationalResponses:
            self.init(
                .tooManyInformationalResponses, "The server sent too many informational responses.", underlying: error)
        case .malformed(let what):
            self.init(.invalidResponse, "The response is not valid HTTP/1.1: \(what).", underlying: error)
        }
    }

    /// Translates an error from the channel.
    init(translating error: any Error) {
        switch error {
        case let error as TransportError:
            self = error
        default:
            self.init(.connectionClosed, "The connection broke: \(Self.reason(error)).", underlying: error)
        }
    }
}

extension TransportError {
    static func streamReset(_ code: HTTP2ErrorCode) -> TransportError {
        TransportError(.streamReset, "The server reset the request's stream: \(code).")
    }

    static func otherProtocol(_ head: HTTPResponse) -> TransportError {
        TransportError(
            .invalidResponse,
            "The server switched to \((head.headerFields[.upgrade] ?? "").prefix(40).debugDescription), which was not asked for."
        )
    }

    static func goneAway(_ code: HTTP2ErrorCode) -> TransportError {
        let reason = code == .noError ? "" : ": \(code)"
        return TransportError(
            .connectionClosed, "The server is closing the connection and did not process the request\(reason).")
    }

    static func connectionClosed(saying code: HTTP2ErrorCode) -> TransportError {
        TransportError(.connectionClosed, "The server closed the connection: \(code).")
    }

    static var pingTimeout: TransportError {
        TransportError(.pingTimeout, "The server sent nothing and did not answer a PING in time.")
    }

    static var settingsTimeout: TransportError {
        TransportError(.pingTimeout, "The server did not acknowledge the connection's SETTINGS in time.")
    }

    static var noRoomForStreams: TransportError {
        TransportError(.poolTimeout, "The server did not allow another stream on its connection in time.")
    }

    init(_ failure: HTTP2StreamStateMachine.Failure) {
        switch failure {
        case .switchedProtocols:
            self.init(.invalidResponse, "The server sent 101 Switching Protocols, which HTTP/2 does not have.")
        case .endedWithoutResponse:
            self.init(.invalidResponse, "The server ended the stream without a final response.")
        case .tooManyInformationalResponses:
            self.init(.tooManyInformationalResponses, "The server sent too many informational responses.")
        case .wrongLength:
            self.init(.invalidResponse, "The length of the response body differs from its Content-Length.")
        case .bodyWithoutPlace:
            self.init(
                .invalidResponse, "The response has a body, which its status or the request's method does not allow.")
        }
    }

    init(_ error: HTTP2ConnectionError) {
        switch error.reason {
        case .headTooLarge:
            self.init(.headTooLarge, "The response head exceeds the size limit.", underlying: error)
        case .flood(let frames):
            self.init(
                .invalidResponse, "The server sent too many of these frames: \(frames).",
                underlying: error)
        case .rule(let rule):
            self.init(.invalidResponse, "The server violated the HTTP/2 protocol: \(rule).", underlying: error)
        }
    }

    init(_ error: HTTP2StreamError) {
        self.init(.invalidResponse, "The server violated the HTTP/2 protocol: \(error.rule).", underlying: error)
    }
}

extension TransportError {
    static var poolTimeout: TransportError { TransportError(.poolTimeout, "No connection became available in time.") }
    static var requestTimeout: TransportError {
        TransportError(.requestTimeout, "The request exceeded its timeout.")
    }
    static var shutDown: TransportError { TransportError(.shutDown, "The session was shut down.") }
    static var evicted: TransportError { TransportError(.connectionClosed, "The connection was idle for too long.") }
    static var retired: TransportError { TransportError(.connectionClosed, "The connection was retired.") }

    /// The error with the metrics of earlier attempts.
    func following(_ earlier: [TransportMetrics]) -> TransportError {
        guard !earlier.isEmpty else { return self }
        var error = self
        error.attempts = earlier + attempts
        return error
    }
}
