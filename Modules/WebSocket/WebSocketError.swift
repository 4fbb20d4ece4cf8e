public import FoundationEssentials
internal import LinnetSession

/// An error of an open WebSocket, or of a ``ReconnectingWebSocket``.
public struct WebSocketError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The task was cancelled. A message that was being sent may arrive.
        public static let cancelled = Code("cancelled")
        /// The WebSocket was closed before. With a ``WebSocketError/closure``, the server closed it.
        public static let closed = Code("closed")
        /// The connection ended without the closing handshake (RFC 6455, section 7.1.5: 1006).
        public static let connectionLost = Code("connectionLost")
        /// The server did not answer a Ping frame in time.
        public static let pongTimeout = Code("pongTimeout")
        /// The server violated RFC 6455.
        public static let protocolViolation = Code("protocolViolation")
        /// The server sent a text that is not UTF-8.
        public static let invalidText = Code("invalidText")
        /// The server sent a message larger than ``WebSocket/Options/maximumMessageSize``, or the program sends one
        /// larger than 1 GiB.
        public static let messageTooLarge = Code("messageTooLarge")
        /// Two tasks read the messages at the same time; the second one fails with this code.
        public static let hasReader = Code("hasReader")
        /// A close code that must not be sent, or a reason of more than 123 bytes.
        public static let invalidClosure = Code("invalidClosure")
        /// A ``ReconnectingWebSocket`` has no connection at the moment. The message was not sent.
        public static let notConnected = Code("notConnected")
        /// A ``ReconnectingWebSocket`` could not be opened. The underlying error is the `SessionError` of the opening
        /// handshake.
        public static let openingFailed = Code("openingFailed")
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence about the failure.
    public var message: String
    /// The underlying error, if there is one.
    public var underlying: (any Error)?
    /// The server's code and reason, if the server closed a connection of a ``ReconnectingWebSocket``.
    public var closure: WebSocket.Closure?

    /// Creates an error.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }
}

extension WebSocketError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }
}

extension WebSocketError {
    static var cancelled: WebSocketError { WebSocketError(.cancelled, "The task was cancelled.") }

    static var closed: WebSocketError { WebSocketError(.closed, "The WebSocket was closed before.") }

    static var notConnected: WebSocketError {
        WebSocketError(.notConnected, "There is no connection at the moment; the message was not sent.")
    }

    static func openingFailed(_ error: SessionError) -> WebSocketError {
        WebSocketError(.openingFailed, "The WebSocket could not be opened: \(error.message)", underlying: error)
    }

    static func closed(by closure: WebSocket.Closure) -> WebSocketError {
        let reason = closure.reason.isEmpty ? "" : ": \(closure.reason)"
        let stop = reason.hasSuffix(".") ? "" : "."
        var error = WebSocketError(
            .closed, "The server closed the WebSocket with code \(closure.code)\(reason)\(stop)")
        error.closure = closure
        return error
    }

    static var tooLarge: WebSocketError {
        WebSocketError(.messageTooLarge, "A message of more than 1 GiB cannot be sent.")
    }

    static var secondReader: WebSocketError {
        WebSocketError(.hasReader, "Another task is waiting for the next message; read messages from one task only.")
    }

    static func connectionLost(_ underlying: (any Error)? = nil) -> WebSocketError {
        let reason = underlying.map { ": \(SessionError.cause($0))" } ?? "."
        return WebSocketError(
            .connectionLost, "The connection ended without the closing handshake\(reason)", underlying: underlying)
    }
}
