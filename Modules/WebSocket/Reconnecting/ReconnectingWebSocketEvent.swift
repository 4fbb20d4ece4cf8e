public import LinnetSession

/// An event of a ``ReconnectingWebSocket``.
public enum ReconnectingWebSocketEvent: Sendable {
    /// A connection is open. The value is the response of its opening handshake. Send subscriptions and other messages
    /// that each connection needs now.
    case connected(SessionResponse<Void>)
    /// A message of the server.
    case message(WebSocketMessage)
    /// There is no connection: it was lost, the server closed it, or it could not be opened. The next attempt follows
    /// after the delay, which starts with the request for the next event.
    case disconnected(WebSocketError, retryAfter: Duration)
}
