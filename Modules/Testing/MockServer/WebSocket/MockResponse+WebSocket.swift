internal import COpenSSL
internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

extension MockResponse {
    /// The service of a WebSocket, which begins after the response.
    struct WebSocketService: Sendable {
        let subprotocol: String?
        let serve: @Sendable (MockWebSocket) async throws -> Void
    }

    /// Creates a response that opens a WebSocket (RFC 6455), over HTTP/1.1.
    ///
    /// ```swift
    /// routes.on("/echo") { _ in
    ///     .webSocket { socket in
    ///         while let message = try await socket.nextMessage() { try await socket.send(message) }
    ///     }
    /// }
    /// ```
    ///
    /// A request that does not ask for a WebSocket of version 13 is answered with status 400, or 426 with the right
    /// version; one over HTTP/2 with 501. Faults at `.responseHead` occur before the response, and those at
    /// `.responseEnd` after `serve`.
    ///
    /// - Parameters:
    ///   - subprotocol: The value of Sec-WebSocket-Protocol. The default, nil, sends none.
    ///   - serve: Serves the WebSocket. The connection is closed when it returns, or throws.
    public static func webSocket(
        subprotocol: String? = nil, serve: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> MockResponse {
        var response = MockResponse(status: .switchingProtocols)
        response.webSocket = WebSocketService(subprotocol: subprotocol, serve: serve)
        return response
    }
}

extension MockResponse.WebSocketService {
    /// Answers the request of a handshake (RFC 6455, 4.2). Returns the refusal, or nil after the service.
    func run(
        _ request: RecordedRequest, over connection: ServerConnection, _ faults: [MockServer.Fault]
    ) async throws -> MockResponse? {
        guard request.method == .get, request.headerFields[.upgrade]?.lowercased() == "websocket",
            let key = request.headerFields[.secWebSocketKey], Data(base64Encoded: key)?.count == 16
        else {
            return refusal(.badRequest, [:], "This is no handshake of a WebSocket.\n")
        }
        guard request.headerFields[.secWebSocketVersion] == "13" else {
            return refusal(.init(code: 426), [.secWebSocketVersion: "13"], "The version is not 13.\n")
        }
        for fault in faults where fault.trigger == .responseHead { try await connection.perform(fault.effect) }
        let inbound = try await connection.switchProtocols()
        var head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        head += "Sec-WebSocket-Accept: \(Self.accept(key))\r\n"
        if let subprotocol { head += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
        try await connection.write(ByteBuffer(string: head + "\r\n"))
        try await serve(MockWebSocket(request, connection, inbound))
        for fault in faults where fault.trigger == .responseEnd { try await connection.perform(fault.effect) }
        return nil
    }

    /// The decoder reads no request after one that asks for an upgrade.
    private func refusal(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ text: String) -> MockResponse {
        MockResponse(status: status, headerFields: fields, body: .text(text), closesConnection: true)
    }

    /// The value of Sec-WebSocket-Accept (RFC 6455, 4.2.2).
    private static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        SHA1(text, text.count, &digest)
        return Data(digest).base64EncodedString()
    }
}

extension ServerConnection {
    /// Removes the handlers of HTTP/1.1. Returns the bytes that the client sends from now on.
    fileprivate func switchProtocols() async throws -> InboundQueue<ByteBuffer> {
        try await channel.eventLoop.flatSubmit { [channel] () -> EventLoopFuture<Void> in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                return [
                    try pipeline.context(handlerType: InboundHandler<RequestPart>.self),
                    try pipeline.context(handlerType: HTTP1RequestParts.self),
                    try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self),
                ].map { pipeline.removeHandler(context: $0) }
            }.flatMap { EventLoopFuture.andAllSucceed($0, on: channel.eventLoop) }
        }.get()
        return try await channel.eventLoop.submit { [self] in
            let inbound = try InboundHandler.addQueue(of: ByteBuffer.self, to: channel, self)
            channel.read()
            return inbound
        }.get()
    }
}
