extension MockServer {
    /// Something that goes wrong: an effect, and when it sets in.
    ///
    /// ```swift
    /// MockResponse(body: .text("twelve bytes")).with(.init(.reset, at: .responseBody(after: 5)))
    /// ```
    ///
    /// Faults at a response's triggers can come with the ``MockResponse``; earlier ones come from a ``FaultPlan``.
    public struct Fault: Sendable, Hashable {
        /// What happens.
        public var effect: Effect
        /// When it happens.
        public var trigger: Trigger

        /// Makes a fault.
        public init(_ effect: Effect, at trigger: Trigger) {
            self.effect = effect
            self.trigger = trigger
        }
    }
}

extension MockServer.Fault {
    /// A point in an exchange.
    ///
    /// A point inside a body that is shorter is reached at the body's end.
    public struct Trigger: Sendable, Hashable {
        enum Point: Sendable, Hashable {
            case connect, requestHead, requestBody(Int), responseHead, responseBody(Int), responseEnd
        }

        let point: Point

        /// The TCP connection was accepted; TLS has not begun.
        public static let connect = Trigger(point: .connect)
        /// The request's head was read, nothing of its body, and no `100 Continue` was sent.
        public static let requestHead = Trigger(point: .requestHead)
        /// The response is ready and its informational responses are sent, its head is not.
        public static let responseHead = Trigger(point: .responseHead)
        /// The response is complete.
        public static let responseEnd = Trigger(point: .responseEnd)

        /// This many bytes of the request's body were read.
        public static func requestBody(after bytes: Int) -> Trigger { Trigger(point: .requestBody(bytes)) }

        /// The head and this many bytes of the response's body were sent; framing of chunks does not count.
        public static func responseBody(after bytes: Int) -> Trigger { Trigger(point: .responseBody(bytes)) }

        var requestBodyOffset: Int? { if case .requestBody(let offset) = point { offset } else { nil } }
        var responseBodyOffset: Int? { if case .responseBody(let offset) = point { offset } else { nil } }
    }

    /// What goes wrong.
    ///
    /// All but ``delay(_:)`` and ``goAway(_:)`` end the exchange, and with it the connection's use. Over HTTP/2,
    /// ``resetStream(_:)`` and ``stall`` concern the exchange's stream alone; what ends a connection ends all of its
    /// streams.
    public struct Effect: Sendable, Hashable {
        enum Action: Sendable, Hashable {
            case close, reset, halfClose, truncate, stall, stallConnection, delay(Duration)
            case resetStream(MockServer.HTTP2ErrorCode)
            case goAway(MockServer.HTTP2ErrorCode)
        }

        let action: Action

        /// The connection is closed in order: over TLS with close_notify, then FIN.
        ///
        /// Where bytes of the request are unread, TCP makes a reset of it.
        public static let close = Effect(action: .close)
        /// The connection is torn down with a TCP reset (RST).
        public static let reset = Effect(action: .reset)
        /// The server says that it will send no more (over TLS close_notify, then FIN), and waits for the client to
        /// close.
        public static let halfClose = Effect(action: .halfClose)
        /// The connection is closed with FIN alone: over TLS without close_notify, which a client must tell from an end
        /// (RFC 8446, 6.1).
        ///
        /// On plain TCP the same as ``close``.
        public static let truncate = Effect(action: .truncate)
        /// The server neither reads nor writes any more, until the client closes the connection; over HTTP/2 it does so
        /// on this stream, until the client resets it.
        public static let stall = Effect(action: .stall)
        /// The server neither reads nor writes any more on the connection: over HTTP/2, on all streams, and PING is not
        /// answered either.
        public static let stallConnection = Effect(action: .stallConnection)

        /// The stream ends with RST_STREAM (RFC 9113, 6.4), in the middle of a body for one; other streams of the
        /// connection go on.
        ///
        /// Over HTTP/1.1 the same as ``reset``.
        public static func resetStream(_ code: MockServer.HTTP2ErrorCode = .internalError) -> Effect {
            Effect(action: .resetStream(code))
        }

        /// The server says that it takes no more requests on the connection (GOAWAY; RFC 9113, 6.8), with the highest
        /// stream so far as the last one, and goes on with those.
        ///
        /// Only the first GOAWAY counts. Over HTTP/1.1 nothing happens.
        public static func goAway(_ code: MockServer.HTTP2ErrorCode = .noError) -> Effect {
            Effect(action: .goAway(code))
        }

        /// The server pauses, then goes on.
        public static func delay(_ duration: Duration) -> Effect { Effect(action: .delay(duration)) }
    }
}
