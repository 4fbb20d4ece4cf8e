extension MockServer {
    /// A fault injected into an exchange: an effect, and the point at which it occurs.
    ///
    /// ```swift
    /// MockResponse(body: .text("twelve bytes")).with(.init(.reset, at: .responseBody(after: 5)))
    /// ```
    ///
    /// A ``MockResponse`` can contain faults with the triggers of a response. Earlier faults come from a ``FaultPlan``.
    public struct Fault: Sendable, Hashable {
        /// The effect of the fault.
        public var effect: Effect
        /// The point at which the fault occurs.
        public var trigger: Trigger

        /// Creates a fault.
        public init(_ effect: Effect, at trigger: Trigger) {
            self.effect = effect
            self.trigger = trigger
        }
    }
}

extension MockServer.Fault {
    /// A point in an exchange at which a fault occurs.
    ///
    /// An offset beyond the end of a body is reached at its end.
    public struct Trigger: Sendable, Hashable {
        enum Point: Sendable, Hashable {
            case connect, clientHello, requestHead, requestBody(Int), responseHead, responseBody(Int), responseEnd
        }

        let point: Point

        /// After the TCP connection was accepted, before the TLS handshake.
        public static let connect = Trigger(point: .connect)
        /// After the client's first bytes were received: its ClientHello over TLS, otherwise the beginning of its first
        /// request. Nothing has been answered, and the bytes are processed after the fault.
        public static let clientHello = Trigger(point: .clientHello)
        /// After the head of the request was read, before its body and before `100 Continue` is sent.
        public static let requestHead = Trigger(point: .requestHead)
        /// After the informational responses were sent, before the head of the response.
        public static let responseHead = Trigger(point: .responseHead)
        /// After the whole response was sent.
        public static let responseEnd = Trigger(point: .responseEnd)

        /// After the given number of bytes of the request's body were read.
        public static func requestBody(after bytes: Int) -> Trigger { Trigger(point: .requestBody(bytes)) }

        /// After the head and the given number of bytes of the response's body were sent. Chunk framing does not count.
        public static func responseBody(after bytes: Int) -> Trigger { Trigger(point: .responseBody(bytes)) }

        /// Whether the fault concerns the connection, before its first request.
        var isOfConnection: Bool { self == .connect || self == .clientHello }
        var requestBodyOffset: Int? { if case .requestBody(let offset) = point { offset } else { nil } }
        var responseBodyOffset: Int? { if case .responseBody(let offset) = point { offset } else { nil } }
    }

    /// The effect of a fault.
    ///
    /// All effects except ``delay(_:)`` and ``goAway(_:)`` end the exchange, and the connection is not used for another
    /// one. Over HTTP/2, ``resetStream(_:)`` and ``stall`` affect only the stream of the exchange; effects that end the
    /// connection end all of its streams.
    public struct Effect: Sendable, Hashable {
        enum Action: Sendable, Hashable {
            case close, reset, halfClose, truncate, garbage, stall, stallConnection, delay(Duration)
            case resetStream(MockServer.HTTP2ErrorCode)
            case goAway(MockServer.HTTP2ErrorCode)
        }

        let action: Action

        /// Closes the connection gracefully: with close_notify over TLS, then with FIN.
        ///
        /// When bytes of the request are unread, TCP sends a reset instead.
        public static let close = Effect(action: .close)
        /// Resets the TCP connection (RST).
        public static let reset = Effect(action: .reset)
        /// Closes the sending side (with close_notify over TLS, then with FIN), and waits for the client to close.
        public static let halfClose = Effect(action: .halfClose)
        /// Closes the connection with FIN only: over TLS without close_notify, which a client must treat as truncation
        /// (RFC 8446, 6.1).
        ///
        /// Over plain TCP it is the same as ``close``.
        public static let truncate = Effect(action: .truncate)
        /// Sends bytes that are valid in no protocol, below TLS and HTTP/2, and then closes the connection with FIN.
        ///
        /// A client cannot recognize them in a body whose length is known over plain HTTP/1.1.
        public static let garbage = Effect(action: .garbage)
        /// Stops reading and writing until the client closes the connection. Over HTTP/2 it stops this stream only,
        /// until the client resets it.
        public static let stall = Effect(action: .stall)
        /// Stops reading and writing on the connection: over HTTP/2 on all streams, without answering PING.
        public static let stallConnection = Effect(action: .stallConnection)

        /// Resets the stream (RST_STREAM; RFC 9113, 6.4). Other streams of the connection continue.
        ///
        /// Over HTTP/1.1 it is the same as ``reset``.
        public static func resetStream(_ code: MockServer.HTTP2ErrorCode = .internalError) -> Effect {
            Effect(action: .resetStream(code))
        }

        /// Sends GOAWAY (RFC 9113, 6.8) with the highest stream so far as the last one. The streams so far continue.
        ///
        /// Only the first GOAWAY of a connection is sent. Over HTTP/1.1 it has no effect.
        public static func goAway(_ code: MockServer.HTTP2ErrorCode = .noError) -> Effect {
            Effect(action: .goAway(code))
        }

        /// Pauses, then continues.
        public static func delay(_ duration: Duration) -> Effect { Effect(action: .delay(duration)) }
    }
}

extension MockServer {
    /// Decides which faults occur on which connections and requests.
    public struct FaultPlan: Sendable {
        /// A connection that was accepted, or a request whose head was read.
        public struct Occasion: Sendable {
            /// The number of the connection, counted from 0.
            public var connectionIndex: Int
            /// The request without its body; nil for a connection that was accepted.
            public var request: RecordedRequest?
        }

        private let choose: @Sendable (Occasion) -> [Fault]

        /// Creates a plan from a closure.
        ///
        /// - Parameter choose: Returns the faults. It is called once for each connection, when only faults at
        ///   ``Fault/Trigger/connect`` and ``Fault/Trigger/clientHello`` apply, and once for each request, when all
        ///   others apply. It is called on the server's event loop and must not block.
        public init(_ choose: @escaping @Sendable (Occasion) -> [Fault]) {
            self.choose = choose
        }

        /// No faults.
        public static let none = FaultPlan { _ in [] }

        /// Applies the faults to every connection and request.
        public static func always(_ faults: Fault...) -> FaultPlan {
            FaultPlan { _ in faults }
        }

        /// Applies the faults to the connections with the given numbers and to their requests.
        public static func connections(_ indices: some Sequence<Int>, _ faults: Fault...) -> FaultPlan {
            let indices = Set(indices)
            return FaultPlan { indices.contains($0.connectionIndex) ? faults : [] }
        }

        /// Applies the faults to requests with the given path.
        public static func path(_ path: String, _ faults: Fault...) -> FaultPlan {
            FaultPlan { $0.request?.path == path ? faults : [] }
        }

        func faults(connectionIndex: Int) -> [Fault] {
            choose(Occasion(connectionIndex: connectionIndex, request: nil)).filter(\.trigger.isOfConnection)
        }

        func faults(for request: RecordedRequest) -> [Fault] {
            choose(Occasion(connectionIndex: request.connectionIndex, request: request))
                .filter { !$0.trigger.isOfConnection }
        }
    }
}
