public import LinnetSession

extension ReconnectingWebSocket {
    /// An event of a ``ReconnectingWebSocket``.
    public enum Event: Sendable {
        /// A connection is open. The value is the response of its opening handshake. Send subscriptions and other
        /// messages that each connection needs now.
        case connected(SessionResponse<Void>)
        /// A message of the server.
        case message(WebSocket.Message)
        /// There is no connection: it was lost, the server closed it, or it could not be opened. The next attempt
        /// follows after the delay, which starts with the request for the next event.
        case disconnected(WebSocketError, retryAfter: Duration)
    }
}
