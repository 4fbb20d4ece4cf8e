public import FoundationEssentials
public import LinnetSession
internal import NIOCore
internal import NIOWebSocket

/// A WebSocket connection (RFC 6455): messages in both directions over one connection.
///
/// ```swift
/// let chat = try await api.get("chat").webSocket()
/// try await chat.send("hello")
/// for try await message in chat.messages { print(message) }
/// ```
/// One task reads messages, and any number of tasks send. Releasing a WebSocket, or gracefully shutting down its
/// session, closes it with ``WebSocket/CloseCode/goingAway``.
public final class WebSocket: Sendable {
    /// The subprotocol that the server selected; nil for none.
    public let subprotocol: String?
    /// The response of the opening handshake.
    public let response: SessionResponse<Void>

    /// The maximum size of a sent message: 1 GiB.
    private static let maximumSize = 1 << 30

    private let connection: WebSocketConnection

    init(_ connection: WebSocketConnection, response: SessionResponse<Void>) {
        self.connection = connection
        self.response = response
        subprotocol = connection.subprotocol
    }

    var queue: MessageQueue { connection.queue }

    // MARK: Messages

    /// The messages of the server, in order. The sequence ends with the closing handshake, and throws a
    /// ``WebSocketError`` if the connection ends without it. The connection is not read while 256 KiB or 256 messages
    /// wait.
    ///
    /// One task at a time reads messages; after leaving a loop, another one can follow.
    public var messages: some AsyncSequence<Message, WebSocketError> & Sendable { Messages(socket: self) }

    /// Sends a text, and returns when the socket has accepted all of it. A peer that does not read delays this.
    ///
    /// - Throws: ``WebSocketError/Code/messageTooLarge`` above 1 GiB, ``WebSocketError/Code/closed`` after
    ///   ``close(_:reason:)`` or the server's Close frame, ``WebSocketError/Code/cancelled``, or
    ///   ``WebSocketError/Code/connectionLost``.
    public func send(_ text: String) async throws(WebSocketError) {
        guard text.utf8.count <= Self.maximumSize else { throw .tooLarge }
        try await send(.text, ByteBuffer(string: text))
    }

    /// Sends bytes as a binary message; see ``send(_:)-(String)``.
    public func send(_ bytes: Data) async throws(WebSocketError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        try await send(.binary, ByteBuffer(bytes: bytes))
    }

    private func send(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) async throws(WebSocketError) {
        try await connection.send(opcode, payload)
    }

    // MARK: End

    /// Closes the WebSocket: sends a Close frame and returns when the server has answered it, at the latest after
    /// ``WebSocket/Options/closeTimeout``. Messages that arrive before the answer can be read.
    ///
    /// - Parameters:
    ///   - code: The code to send. The default is ``WebSocket/CloseCode/normalClosure``.
    ///   - reason: The reason to send, at most 123 bytes of UTF-8. The default is empty.
    /// - Returns: The server's code and reason.
    /// - Throws: ``WebSocketError/Code/invalidClosure``, and ``WebSocketError/Code/connectionLost`` without an answer.
    @discardableResult
    public func close(
        _ code: CloseCode = .normalClosure, reason: String = ""
    ) async throws(WebSocketError) -> Closure {
        try code.verifySendable(with: reason)
        return try await connection.close(code, reason: reason)
    }
}

/// The messages of a ``WebSocket``.
private struct Messages: AsyncSequence, Sendable {
    typealias Element = WebSocket.Message
    typealias Failure = WebSocketError

    let socket: WebSocket

    func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }

    struct Iterator: AsyncIteratorProtocol {
        let socket: WebSocket

        mutating func next() async throws(WebSocketError) -> Element? { try await socket.queue.next() }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(WebSocketError) -> Element? {
            try await socket.queue.next()
        }
    }
}
