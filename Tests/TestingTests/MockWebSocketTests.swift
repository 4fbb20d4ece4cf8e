import FoundationEssentials
import LinnetTesting
import NIOCore
import Testing

/// The server's side of a WebSocket, with clients that share no code with it.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct MockWebSocketTests {
    /// The handshake of RFC 6455, 1.3, and its answer.
    private static let request = """
        GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n
        """
    private static let accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

    /// A client's frame with the mask of RFC 6455, 5.7.
    private static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> ByteBuffer {
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        let masked = payload.enumerated().map { $1 ^ mask[$0 % 4] }
        return ByteBuffer(bytes: [(isFinal ? 0x80 : 0) | opcode, 0x80 | UInt8(payload.count)] + mask + masked)
    }

    private static func with(
        _ response: MockResponse, talk: (inout Conversation, MockServer) async throws -> Void
    ) async throws {
        try await withMockServer(response) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await talk(&conversation, server)
            }
        }
    }

    @Test func messagesAreEchoed() async throws {
        let echo = MockResponse.webSocket(subprotocol: "chat") { socket in
            while let message = try await socket.nextMessage() { try await socket.send(message) }
        }
        try await Self.with(echo) { conversation, server in
            try await conversation.send(Self.request)
            let head = try await conversation.receive(through: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 101 ") && head.contains(Self.accept))
            #expect(head.contains("Sec-WebSocket-Protocol: chat\r\n"))
            try await conversation.outbound.write(Self.frame(1, Array("Hello".utf8)))
            #expect(try await conversation.receive(through: "Hello").hasSuffix("\u{5}Hello"))
            // In two fragments, with a ping between them.
            try await conversation.outbound.write(Self.frame(1, Array("Hel".utf8), isFinal: false))
            try await conversation.outbound.write(Self.frame(9, Array("p".utf8)))
            #expect(try await conversation.receive(through: "p").hasSuffix("\u{1}p"))
            try await conversation.outbound.write(Self.frame(0, Array("lo".utf8)))
            #expect(try await conversation.receive(through: "Hello").hasSuffix("\u{5}Hello"))
            try await conversation.outbound.write(Self.frame(8, [0x03, 0xE8]))
            #expect(await conversation.receiveToEnd() == .fin)
            #expect(conversation.received.unicodeScalars.count == 4)
            #expect(server.recordedRequests.map(\.path) == ["/chat"])
        }
    }

    @Test func theServerClosesAndSeesTheClientsAnswer() async throws {
        let closing = MockResponse.webSocket { socket in
            let answer = try await socket.close(1001, reason: "bye")
            #expect(answer?.closeCode == 1000)
        }
        try await Self.with(closing) { conversation, _ in
            try await conversation.send(Self.request)
            #expect(try await conversation.receive(through: "bye").hasSuffix("bye"))
            try await conversation.outbound.write(Self.frame(8, [0x03, 0xE8]))
            #expect(await conversation.receiveToEnd() == .fin)
        }
    }

    @Test func aFrameWithoutAMaskIsAnError() async throws {
        let response = MockResponse.webSocket { socket in
            let error = await #expect(throws: TestingError.self) { try await socket.nextFrame() }
            #expect(error?.code == .invalidFrame)
        }
        try await Self.with(response) { conversation, _ in
            try await conversation.send(Self.request)
            _ = try await conversation.receive(through: "\r\n\r\n")
            try await conversation.outbound.write(ByteBuffer(bytes: [0x81, 1, 0x61]))
            #expect(await conversation.receiveToEnd() == .fin)
        }
    }

    @Test(arguments: [
        ("Upgrade: websocket", "Upgrade: h2c", "400"), ("Version: 13", "Version: 8", "426"),
        ("dGhlIHNhbXBsZSBub25jZQ==", "short", "400"),
    ])
    func aRequestThatIsNoHandshakeIsRefused(_ text: String, _ other: String, _ status: String) async throws {
        try await Self.with(.webSocket { _ in }) { conversation, _ in
            try await conversation.send(Self.request.replacing(text, with: other))
            #expect(await conversation.receiveToEnd() == .fin)
            #expect(conversation.received.hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    @Test func aFaultEndsTheHandshake() async throws {
        let response = MockResponse.webSocket { _ in }.with(.init(.close, at: .responseHead))
        try await Self.with(response) { conversation, _ in
            try await conversation.send(Self.request)
            #expect(await conversation.receiveToEnd() == .fin)
            #expect(conversation.received.isEmpty)
        }
    }
}
