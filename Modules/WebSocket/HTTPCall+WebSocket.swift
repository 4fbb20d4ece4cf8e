public import LinnetSession

extension HTTPCall {
    /// Opens a WebSocket (RFC 6455), over HTTP/1.1 and through the whole chain of the session: header fields, cookies,
    /// credentials, redirects, retries, pins and hooks apply to the opening handshake.
    ///
    /// ```swift
    /// let chat = try await api.get("chat").webSocket { $0.subprotocols = ["chat.v2"] }
    /// ```
    /// `ws` and `wss` in the call's URL mean `http` and `https`. The timeouts of the call end with the handshake. The
    /// session's pool does not count the connection.
    ///
    /// - Parameter configure: Changes the options. The default keeps them.
    /// - Returns: The open WebSocket.
    /// - Throws: `SessionError` with `unacceptableStatus` and the body if the server answers without switching
    ///   protocols, with `invalidResponse` if its handshake is wrong, with `invalidRequest` for a method other than
    ///   GET, a body or options that cannot be used, or the errors of any request.
    public func webSocket(
        _ configure: (inout WebSocket.Options) -> Void = { _ in }
    ) async throws(SessionError) -> WebSocket {
        var options = WebSocket.Options()
        configure(&options)
        if let problem = options.problem { throw SessionError(.invalidRequest, problem) }
        let handshake = WebSocketHandshake(subprotocols: options.subprotocols, compresses: options.compresses)
        let (response, owner) = try await upgraded(
            with: WebSocketConnection.upgrade(handshake, options), adding: handshake.requestFields)
        guard let connection = owner as? WebSocketConnection else {
            throw SessionError(.transportFailed, "The connection switched to another protocol.", url: response.url)
        }
        return WebSocket(connection, response: response)
    }
}
