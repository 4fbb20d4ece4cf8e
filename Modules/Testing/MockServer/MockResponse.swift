public import HTTPTypes

/// What a ``MockServer`` answers.
///
/// Framing is added where the header fields leave it open: Content-Length, or chunked coding where the length is
/// unknown or there are trailers. A `Content-Length` or `Transfer-Encoding` of your own is sent as it stands, right or
/// wrong. To `HEAD`, and with 204 and 304, no body is sent. Over HTTP/2, fields of the connection (RFC 9113, 8.2.2) are
/// left out.
public struct MockResponse: Sendable {
    /// Sends a body slowly.
    public struct Throttle: Sendable, Hashable {
        /// How many bytes of the body go at a time.
        public var bytes: Int
        /// The pause after them.
        public var pause: Duration

        /// Makes a throttle; less than one byte at a time counts as one.
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
    /// Fields after the body, which is chunked then (RFC 9110, 6.5).
    ///
    /// The default is none.
    public var trailers: HTTPFields?
    /// Responses with a 1xx status that go before this one.
    ///
    /// The default is none.
    public var informational: [HTTPResponse]
    /// What goes wrong while it is sent; only the response's triggers count.
    ///
    /// The default is nothing.
    public var faults: [MockServer.Fault]
    /// Sends the body slowly.
    ///
    /// The default is nil: as fast as the client takes it.
    public var throttle: Throttle?
    /// Whether `Connection: close` is said, and the connection closed; over HTTP/2, GOAWAY is said before the response,
    /// and the connection closed once its other streams are answered too.
    ///
    /// The default is false.
    public var closesConnection: Bool

    /// Makes a response.
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
    /// A response with a status and nothing else.
    public static func status(_ status: HTTPResponse.Status) -> MockResponse {
        MockResponse(status: status)
    }

    /// A response of plain text in UTF-8.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> MockResponse {
        MockResponse(
            status: status, headerFields: [.contentType: "text/plain; charset=utf-8"], body: .text(text))
    }

    /// A response of JSON, given as its text.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> MockResponse {
        MockResponse(status: status, headerFields: [.contentType: "application/json"], body: .text(text))
    }

    /// A redirect to a location.
    public static func redirect(to location: String, status: HTTPResponse.Status = .found) -> MockResponse {
        MockResponse(status: status, headerFields: [.location: location])
    }

    /// Bytes that are sent as they are in place of a response, head and framing included, to be as hostile as need be.
    ///
    /// Status and header fields of this value are not sent. The connection is closed after the bytes, unless
    /// ``closesConnection`` is set to false. Faults at `.responseBody` count all bytes. Over HTTP/2 the bytes go out on
    /// the connection, in place of frames.
    public static func raw(_ bytes: [UInt8]) -> MockResponse {
        MockResponse(body: Body(.raw(bytes)), closesConnection: true)
    }

    /// As ``raw(_:)-([UInt8])``, given as text.
    public static func raw(_ text: String) -> MockResponse {
        raw(Array(text.utf8))
    }

    /// This response with further faults.
    public func with(_ faults: MockServer.Fault...) -> MockResponse {
        var copy = self
        copy.faults += faults
        return copy
    }

    /// This response, with its first byte put off.
    public func delayed(by duration: Duration) -> MockResponse {
        with(MockServer.Fault(.delay(duration), at: .responseHead))
    }
}
