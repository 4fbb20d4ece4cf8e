extension WebSocket {
    /// The options of a WebSocket.
    public struct Options: Sendable, Hashable {
        /// The subprotocols to offer, in order of preference (RFC 6455, section 1.9). The default is none. A server may
        /// select none, and ``WebSocket/subprotocol`` is then nil.
        public var subprotocols: [String] = []
        /// The maximum size in bytes of a received message. The default is 1 MiB, the upper limit 1 GiB. Beyond it, the
        /// connection ends with ``WebSocketError/Code/messageTooLarge``.
        public var maximumMessageSize = 1024 * 1024
        /// Whether messages are compressed in both directions if the server agrees (permessage-deflate, RFC 7692). The
        /// default is false: if a message has both secrets and texts that others chose, its compressed length reveals
        /// something about the secrets to observers of the connection. A compressed connection also needs about 300 KB
        /// of memory. Messages are decompressed on the event loop, up to ``maximumMessageSize``.
        public var compresses = false
        /// The interval between Ping frames; nil for none. The default is 20 seconds. While the program reads no
        /// messages, nothing is received and no answer is expected.
        public var pingInterval: Duration? = .seconds(20)
        /// The time limit for receiving anything after the socket has accepted a Ping frame, or while the socket
        /// accepts nothing. The default is 20 seconds. Beyond it, the connection ends with
        /// ``WebSocketError/Code/pongTimeout``.
        public var pongTimeout: Duration = .seconds(20)
        /// The time limit for the closing handshake, and then for the server to close the connection. The default is 5
        /// seconds. Beyond it, the connection is closed, and ends with ``WebSocketError/Code/connectionLost`` if the
        /// server sent no Close frame.
        public var closeTimeout: Duration = .seconds(5)

        /// Creates the default options.
        public init() {}
    }
}
