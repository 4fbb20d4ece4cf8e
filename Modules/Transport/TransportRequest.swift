public import HTTPTypes
package import LinnetMessages
public import NIOCore

/// A request to send.
///
/// `head` must have a scheme (`http` or `https`), an authority and a path. The transport writes `Host`,
/// `Content-Length` and `Transfer-Encoding`.
public struct TransportRequest: Sendable {
    /// Method, scheme, authority, path and header fields.
    public var head: HTTPRequest {
        didSet { origin = nil }
    }
    /// The body. The default is none.
    public var body: TransportRequestBody?
    /// Time limits for the steps of the request; nil entries take the transport's values.
    public var timeouts: TransportTimeouts
    /// How the response body is delivered. The default is `.whole`, up to 256 MiB.
    public var delivery: ResponseDelivery
    /// Whether the body of an unsuccessful response is streamed, whatever ``delivery`` says, unless it arrived
    /// completely with its head. For callers that may repeat the request and do not need a large body. The default is
    /// false.
    public var streamsUnsuccessfulResponses: Bool
    /// Whether the body of a response with a Content-Encoding is streamed, whatever ``delivery`` says, unless it
    /// arrived completely with its head: for callers that decode it as it arrives. The default is false.
    package var streamsCodedResponses = false
    /// The priority among the requests that wait for a connection. The default is `.normal`. While the request waits,
    /// ``WaitingPlace/setPriority(_:)`` changes it.
    public var priority: RequestPriority
    /// The protocol to switch the connection to, over HTTP/1.1. If the server does, the response's status is 101 and
    /// its body is ``TransportResponseBody/upgraded``. The default is none.
    package var upgrade: ProtocolUpgrade?
    /// The origin of the head, where the URL of the request was parsed already; nil to parse the head.
    package var origin: Origin?

    /// Creates a request.
    public init(
        head: HTTPRequest,
        body: TransportRequestBody? = nil,
        timeouts: TransportTimeouts = TransportTimeouts(),
        delivery: ResponseDelivery = .whole(upTo: ResponseDelivery.defaultLimit)
    ) {
        self.init(head: head, origin: nil, body: body, timeouts: timeouts, delivery: delivery)
    }

    /// Creates a request with all properties at once, because each later change could copy the others.
    ///
    /// - Parameter origin: The origin of the head, where the URL of the request was parsed already.
    package init(
        head: HTTPRequest, origin: Origin?, body: TransportRequestBody?, timeouts: TransportTimeouts,
        delivery: ResponseDelivery, streamsUnsuccessfulResponses: Bool = false, streamsCodedResponses: Bool = false,
        priority: RequestPriority = .normal, upgrade: ProtocolUpgrade? = nil
    ) {
        self.head = head
        self.origin = origin
        self.body = body
        self.timeouts = timeouts
        self.delivery = delivery
        self.streamsUnsuccessfulResponses = streamsUnsuccessfulResponses
        self.streamsCodedResponses = streamsCodedResponses
        self.priority = priority
        self.upgrade = upgrade
    }
}

/// How a response body is delivered.
public enum ResponseDelivery: Sendable, Hashable {
    /// The response is returned when its body is complete. A larger body fails with
    /// ``TransportError/Code/bodyTooLarge``, as does one of 4 GiB, which no buffer holds.
    case whole(upTo: Int)
    /// The response is returned with its head; the body is pulled, with backpressure.
    case streamed

    /// The limit of `.whole` on a body in bytes that none else is given for. The default is 256 MiB. Exceeding it is
    /// ``TransportError/Code/bodyTooLarge``.
    public static let defaultLimit = 256 * 1024 * 1024
}

/// The body of a request.
public enum TransportRequestBody: Sendable {
    /// Bytes in memory, sent with a Content-Length and replayable.
    case bytes(ByteBuffer)
    /// Bytes that are pulled as the connection accepts them. `length` is the exact number, or nil if unknown (HTTP/1.1
    /// then uses chunked encoding). `make` is called once for each attempt; `isReplayable` is whether the body can be
    /// produced more than once.
    case stream(length: Int64?, isReplayable: Bool, make: @Sendable () throws -> any TransportBodyReader)

    package var isReplayable: Bool {
        switch self {
        case .bytes: true
        case .stream(_, let isReplayable, _): isReplayable
        }
    }

    /// The number of bytes, if known.
    var length: Int64? {
        switch self {
        case .bytes(let buffer): Int64(buffer.readableBytes)
        case .stream(let length, _, _): length
        }
    }
}

/// Produces the bytes of a request body for one attempt.
public protocol TransportBodyReader {
    /// Returns the next bytes, or nil at the end. Called again after the connection has accepted the previous bytes. An
    /// error fails the request with ``TransportError/Code/requestBodyFailed``.
    mutating func next() async throws -> ByteBuffer?
}

/// Time limits for the steps of a request.
///
/// Each entry has its own error code. In a request's timeouts, nil means the transport's value; in a transport's
/// configuration, nil means no limit.
public struct TransportTimeouts: Sendable, Hashable {
    /// The wait for a connection to become available. Fails with ``TransportError/Code/poolTimeout``.
    public var poolWait: Duration?
    /// Resolving the name and opening the TCP connection. Fails with ``TransportError/Code/connectTimeout``.
    public var connect: Duration?
    /// The TLS handshake, including the evaluation of the certificate chain and the wait for other handshakes. Fails
    /// with ``TransportError/Code/tlsTimeout``.
    public var tlsHandshake: Duration?
    /// The time without a byte from the server while a response is due: after the request was sent, and while the
    /// response's reader keeps up. While the server takes the rest of the request out of the system's buffers, the time
    /// begins again with each part that it acknowledges. Fails with ``TransportError/Code/readTimeout``.
    public var idleRead: Duration?
    /// The time in which the server accepts no byte of the request body, as far as the system can tell: the socket
    /// takes nothing more, and none of its bytes are acknowledged. A body that is sent slowly but steadily is not
    /// limited. Fails with ``TransportError/Code/writeTimeout``.
    public var idleWrite: Duration?
    /// The whole request, from its start to the last byte of the response. Fails with
    /// ``TransportError/Code/requestTimeout``.
    public var request: Duration?

    /// Creates timeouts; entries that are not given are nil.
    public init(
        poolWait: Duration? = nil, connect: Duration? = nil, tlsHandshake: Duration? = nil,
        idleRead: Duration? = nil, idleWrite: Duration? = nil, request: Duration? = nil
    ) {
        self.poolWait = poolWait
        self.connect = connect
        self.tlsHandshake = tlsHandshake
        self.idleRead = idleRead
        self.idleWrite = idleWrite
        self.request = request
    }

    /// The defaults of a transport: 10 s each for connecting and TLS, 60 s for each idle time and for waiting in the
    /// pool, no limit for the whole request.
    public static let `default` = TransportTimeouts(
        poolWait: .seconds(60), connect: .seconds(10), tlsHandshake: .seconds(10),
        idleRead: .seconds(60), idleWrite: .seconds(60))

    /// These timeouts, with nil entries taken from others.
    func merging(_ defaults: TransportTimeouts) -> TransportTimeouts {
        TransportTimeouts(
            poolWait: poolWait ?? defaults.poolWait, connect: connect ?? defaults.connect,
            tlsHandshake: tlsHandshake ?? defaults.tlsHandshake, idleRead: idleRead ?? defaults.idleRead,
            idleWrite: idleWrite ?? defaults.idleWrite, request: request ?? defaults.request)
    }
}

/// The priority of a request that waits for a connection, from 0 to 1. Higher priorities go first; equal ones are
/// served in order of arrival.
///
/// It only matters while requests wait for connections. Running requests are not delayed.
public struct RequestPriority: Sendable, Hashable, Comparable, ExpressibleByFloatLiteral,
    ExpressibleByIntegerLiteral
{
    /// The priority, from 0 to 1.
    public let value: Double

    /// 0.25.
    public static let low = RequestPriority(0.25)
    /// 0.5, the default.
    public static let normal = RequestPriority(0.5)
    /// 0.75.
    public static let high = RequestPriority(0.75)

    /// Creates a priority. Values are clamped to the range from 0 to 1; NaN becomes 0.5.
    public init(_ value: Double) {
        self.value = value.isNaN ? 0.5 : min(1, max(0, value))
    }

    /// Makes a priority as ``init(_:)`` does.
    public init(floatLiteral value: Double) {
        self.init(value)
    }

    /// Makes a priority as ``init(_:)`` does.
    public init(integerLiteral value: Int) {
        self.init(Double(value))
    }

    /// Whether the first has the lower priority.
    public static func < (first: RequestPriority, second: RequestPriority) -> Bool {
        first.value < second.value
    }
}

/// A request's place in the queue for a connection.
public struct WaitingPlace: Sendable {
    private let change: @Sendable (RequestPriority) -> Void

    /// Creates a place from the function that moves it, for custom transports.
    public init(_ change: @escaping @Sendable (RequestPriority) -> Void) {
        self.change = change
    }

    /// Changes the request's priority in the queue. Has no effect once the request has stopped waiting.
    public func setPriority(_ priority: RequestPriority) {
        change(priority)
    }
}

/// The authority and path of a request, for every HTTP version.
struct RequestLine {
    let authority: String
    let path: String

    /// Rejects characters that must not be sent.
    init(_ head: HTTPRequest) throws(TransportError) {
        guard let authority = head.authority, Self.isVisible(authority) else {
            throw TransportError(
                .invalidRequest, "The request's authority is missing or contains invalid characters.")
        }
        let path = head.path ?? "/"
        guard Self.isVisible(path) else {
            throw TransportError(
                .invalidRequest, "The request's path contains characters that must be percent-encoded.")
        }
        guard head.method != .connect else {
            throw TransportError(.invalidRequest, "The method CONNECT is not supported; it is for proxies only.")
        }
        self.authority = authority
        self.path = path
    }

    // A space or a line end would begin another part of the head, or another request.
    private static func isVisible(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { !$0.isEmpty && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
    }
}

extension TransportRequestBody? {
    /// Whether there is a body that is not known to be empty.
    var hasContent: Bool { map { $0.length != 0 } ?? false }

    /// The value of `Content-Length`: the length of the body, or zero for a method that is defined to have a body but
    /// has none (RFC 9110, 8.6); nil if the field is not sent.
    func contentLength(for method: HTTPRequest.Method) -> Int64? {
        guard let body = self else {
            switch method {
            case .post, .put, .patch: return 0
            default: return nil
            }
        }
        return body.length
    }
}
