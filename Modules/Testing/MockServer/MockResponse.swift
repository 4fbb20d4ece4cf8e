public import FoundationEssentials
public import HTTPTypes

/// A response of a ``MockServer``.
///
/// The server adds Content-Length, or chunked coding when the length is unknown or there are trailers. A
/// `Content-Length` or `Transfer-Encoding` in ``headerFields`` is sent unchanged, even when it is wrong. No body is
/// sent in response to `HEAD`, or with the statuses 204 and 304. Over HTTP/2, connection-specific fields (RFC 9113,
/// 8.2.2) are omitted.
public struct MockResponse: Sendable {
    /// Limits the rate at which a body is sent.
    public struct Throttle: Sendable, Hashable {
        /// The number of bytes between two pauses. Numbers below one count as one.
        public var bytes: Int {
            didSet { bytes = max(1, bytes) }
        }
        /// The length of a pause.
        public var pause: Duration

        /// Creates a throttle. Numbers of bytes below one count as one.
        public init(bytes: Int, pause: Duration) {
            self.bytes = max(1, bytes)
            self.pause = pause
        }
    }

    /// The status.
    ///
    /// The default is 200.
    public var status: HTTPResponse.Status
    /// The header fields.
    ///
    /// The default is none.
    public var headerFields: HTTPFields
    /// The body.
    ///
    /// The default is empty.
    public var body: Body
    /// The trailer fields (RFC 9110, 6.5). A response with trailers uses chunked coding.
    ///
    /// The default is nil.
    public var trailers: HTTPFields?
    /// Responses with a 1xx status that are sent before this one.
    ///
    /// The default is none.
    public var informational: [HTTPResponse]
    /// The faults that occur while the response is sent. Only the triggers of a response apply.
    ///
    /// The default is none.
    public var faults: [MockServer.Fault]
    /// Limits the rate at which the body is sent.
    ///
    /// Nil, the default, means no limit.
    public var throttle: Throttle?
    /// Whether the connection is closed after the response, which then contains `Connection: close`. Over HTTP/2,
    /// GOAWAY is sent before the response, and the connection is closed when its other streams were answered.
    ///
    /// The default is false.
    public var closesConnection: Bool
    /// The service of a WebSocket; nil for a response of HTTP.
    var webSocket: WebSocketService?

    /// Creates a response.
    public init(
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        body: Body = .empty,
        trailers: HTTPFields? = nil,
        informational: [HTTPResponse] = [],
        faults: [MockServer.Fault] = [],
        throttle: Throttle? = nil,
        closesConnection: Bool = false
    ) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.trailers = trailers
        self.informational = informational
        self.faults = faults
        self.throttle = throttle
        self.closesConnection = closesConnection
    }
}

extension MockResponse {
    /// Creates a response with a status and an empty body.
    public static func status(_ status: HTTPResponse.Status) -> MockResponse {
        MockResponse(status: status)
    }

    /// Creates a response with plain text in UTF-8.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> MockResponse {
        MockResponse(
            status: status, headerFields: [.contentType: "text/plain; charset=utf-8"], body: .text(text))
    }

    /// Creates a response with a JSON text and the content type `application/json`.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> MockResponse {
        MockResponse(status: status, headerFields: [.contentType: "application/json"], body: .text(text))
    }

    /// Creates a redirect to a location.
    public static func redirect(to location: String, status: HTTPResponse.Status = .found) -> MockResponse {
        MockResponse(status: status, headerFields: [.location: location])
    }

    /// Creates a response that consists of raw bytes, including head and framing. The bytes need not be valid HTTP.
    ///
    /// ``status`` and ``headerFields`` are not sent. The connection is closed after the bytes unless
    /// ``closesConnection`` is set to false. Faults at `.responseBody` count all bytes. Over HTTP/2 the bytes are sent
    /// on the connection instead of frames.
    public static func raw(_ bytes: [UInt8]) -> MockResponse {
        MockResponse(body: Body(.raw(bytes)), closesConnection: true)
    }

    /// Creates a response that consists of raw text in UTF-8, as ``raw(_:)-([UInt8])`` does.
    public static func raw(_ text: String) -> MockResponse {
        raw(Array(text.utf8))
    }

    /// Returns the response with additional faults.
    public func with(_ faults: MockServer.Fault...) -> MockResponse {
        var copy = self
        copy.faults += faults
        return copy
    }

    /// Returns the response with a delay before its head.
    public func delayed(by duration: Duration) -> MockResponse {
        with(MockServer.Fault(.delay(duration), at: .responseHead))
    }
}

extension MockResponse {
    /// The body of a response and its framing.
    public struct Body: Sendable {
        enum Storage: Sendable {
            case bytes(Data)
            case untilClose(Data)
            case stream(length: Int?, @Sendable (MockResponseWriter) async throws -> Void)
            case raw([UInt8])
        }

        let storage: Storage

        init(_ storage: Storage) {
            self.storage = storage
        }

        /// The value for Content-Length; nil when the length is unknown or must not be sent.
        var length: Int? {
            switch storage {
            case .bytes(let bytes): bytes.count
            case .stream(let length, _): length
            case .untilClose, .raw: nil
            }
        }

        var isRaw: Bool { if case .raw = storage { true } else { false } }

        /// An empty body.
        public static let empty = Body(.bytes(Data()))

        /// A body of bytes with a Content-Length.
        public static func bytes(_ bytes: Data) -> Body {
            Body(.bytes(bytes))
        }

        /// A body of text in UTF-8 with a Content-Length.
        public static func text(_ text: String) -> Body {
            Body(.bytes(Data(text.utf8)))
        }

        /// A body with chunked coding (RFC 9112, 7.1), in which each piece is a chunk. Empty pieces are omitted.
        public static func chunks(_ pieces: [Data]) -> Body {
            Body(.stream(length: nil) { writer in for piece in pieces { try await writer.write(piece) } })
        }

        /// A body whose pieces an asynchronous sequence yields. Each piece is sent immediately.
        ///
        /// The sequence is iterated as fast as the client reads. When it throws, the connection is closed in the middle
        /// of the body; over HTTP/2 the stream is reset with INTERNAL_ERROR.
        ///
        /// - Parameters:
        ///   - pieces: The pieces.
        ///   - length: The Content-Length. Nil, the default, selects chunked coding.
        public static func stream<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Int? = nil) -> Body
        where Pieces.Element == Data {
            Body(.stream(length: length) { writer in for try await piece in pieces { try await writer.write(piece) } })
        }

        /// A body that is delimited by the end of the connection (RFC 9112, 6.3, case 8): no Content-Length, no chunks.
        public static func untilClose(_ bytes: Data) -> Body {
            Body(.untilClose(bytes))
        }
    }
}
