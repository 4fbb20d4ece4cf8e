public import LinnetSession

extension HTTPCall {
    /// A WebSocket that is opened again after its connection was lost. Nothing is sent before its events are read.
    ///
    /// ```swift
    /// let chat = api.get("chat").reconnectingWebSocket { $0.retryPolicy.limit = 10 }
    /// ```
    /// Each opening handshake is this call, sent once more, with its timeouts and the retries of its own policy.
    ///
    /// - Parameter configure: Changes the options. The default leaves them as they are.
    /// - Returns: The events of the WebSocket. Whatever ``webSocket(_:)`` throws, they throw as
    ///   ``WebSocketError/Code/openingFailed``, unless another attempt follows.
    public func reconnectingWebSocket(
        _ configure: (inout ReconnectingWebSocketOptions) -> Void = { _ in }
    ) -> ReconnectingWebSocket {
        var options = ReconnectingWebSocketOptions()
        configure(&options)
        return ReconnectingWebSocket(self, options)
    }
}
