public import LinnetSession

extension HTTPCall {
    /// Returns a WebSocket that is opened again after a lost connection. Nothing is sent before its events are read.
    ///
    /// ```swift
    /// let chat = api.get("chat").reconnectingWebSocket { $0.retryPolicy.limit = 10 }
    /// ```
    /// Each opening handshake sends this call again, with its timeouts and the retries of its own policy.
    ///
    /// - Parameter configure: Changes the options. The default keeps them.
    /// - Returns: The events of the WebSocket. They throw the errors of ``webSocket(_:)`` as
    ///   ``WebSocketError/Code/openingFailed``, unless another attempt follows.
    public func reconnectingWebSocket(
        _ configure: (inout ReconnectingWebSocket.Options) -> Void = { _ in }
    ) -> ReconnectingWebSocket {
        var options = ReconnectingWebSocket.Options()
        configure(&options)
        return ReconnectingWebSocket(self, options)
    }
}
