/// The options of a WebSocket.
public struct WebSocketOptions: Sendable, Hashable {
    /// The subprotocols to offer, in order of preference (RFC 6455, section 1.9). The default is none. A server that selects
    /// none of them is accepted, and ``WebSocket/subprotocol`` is nil then.
    public var subprotocols: [String] = []
    /// The maximum size in bytes of a received message. The default is 1 MiB, and at most
    /// 1 GiB is possible. A larger one ends the connection with
    /// ``WebSocketError/Code/messageTooLarge``.
    public var maximumMessageSize = 1024 * 1024
    /// Whether messages are compressed in both directions if the server agrees (permessage-deflate, RFC 7692). The default is
    /// false: the length of a compressed message tells something of its content to those who see the connection, if it has both
    /// secrets and texts that others chose, and a compressed connection holds about 300 KB of memory. Messages are decompressed on the
    /// event loop, up to ``maximumMessageSize``.
    public var compresses = false
    /// The interval between Ping frames; nil for none. The default is 20 seconds. While messages are not read, nothing is
    /// received and no answer is expected.
    public var pingInterval: Duration? = .seconds(20)
    /// How long nothing may be received after the socket has accepted a Ping frame, or while the socket accepts nothing. The default
    /// is 20 seconds. Then the connection ends with ``WebSocketError/Code/pongTimeout``.
    public var pongTimeout: Duration = .seconds(20)
    /// How long the closing handshake may take, and the server may then take to close the connection. The default is 5 seconds.
    public var closeTimeout: Duration = .seconds(5)

    /// The defaults.
    public init() {}
}
