public import LinnetSession

/// What happened to a ``ReconnectingWebSocket``.
public enum ReconnectingWebSocketEvent: Sendable {
    /// A connection is open. The value is the response of its opening handshake. What the server must know of each connection,
    /// such as a subscription, is sent now.
    case connected(SessionResponse<Void>)
    /// A message of the server.
    case message(WebSocketMessage)
    /// There is no connection: it was lost, closed by the server, or could not be opened. The next attempt follows after the
    /// delay, which starts with the request for the next event.
    case disconnected(WebSocketError, retryAfter: Duration)
}
