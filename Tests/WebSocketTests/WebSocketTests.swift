import Foundation
import HTTPTypes
import LinnetSecurity
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@testable import LinnetWebSocket

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct WebSocketTests {
    typealias Frame = WebSocketPeer.Frame

    /// Sends each data frame back, and answers the Close frame.
    private func echo(_ peer: WebSocketPeer) async throws {
        var frames = peer.frames()
        while let frame = try await frames.next() {
            try await peer.send(frame)
            if frame.opcode == 8 { return }
        }
    }

    @Test func messagesPassInBothDirections() async throws {
        try await withPeer {
            try await echo(.accepted(on: $0))
        } perform: { session in
            let socket = try await session.get("/chat").webSocket()
            #expect(socket.response.head.status == .switchingProtocols)
            #expect(socket.subprotocol == nil)
            var messages = socket.messages.makeAsyncIterator()
            for text in ["hello", "", "ä€😀", String(repeating: "x", count: 125), String(repeating: "y", count: 70_000)]
            {
                try await socket.send(text)
                #expect(try await messages.next() == .text(text))
            }
            let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
            try await socket.send(bytes)
            #expect(try await messages.next() == .binary(bytes))
            let closure = try await socket.close(reason: "done")
            #expect(closure == WebSocket.Closure(code: .normalClosure, reason: "done"))
            #expect(try await messages.next() == nil)
            #expect(try await messages.next() == nil)
        }
    }

    @Test func aDumpOfASocketShowsNoSecret() async throws {
        try await withPeer {
            try await echo(.accepted(on: $0, fields: ["Set-Cookie: id=s3cret", "X-Plain: shown"]))
        } perform: { session in
            let call = session.get("chat", ["token": "s3cret"]).header(.authorization, "Bearer s3cret")
            let socket = try await call.webSocket()
            let reconnecting = call.reconnectingWebSocket()
            for (value, part) in [(socket as Any, "shown"), (reconnecting, "ReconnectingWebSocket")] {
                var text = ""
                dump(value, to: &text)
                #expect(!text.contains("s3cret"))
                #expect(text.contains(part))
            }
            try await reconnecting.close()
            try await socket.close()
        }
    }

    /// The end of the connection is behind more messages than are kept, and nobody reads them.
    @Test func closingDoesNotWaitForAReader() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            for number in 0..<600 { try await peer.send(.text("\(number)")) }
        } perform: { session in
            let socket = try await session.get("chat").webSocket()
            // Nothing can be sent once the end of the connection was received.
            while (try? await socket.send("still there?")) != nil {}
            let error = await #expect(throws: WebSocketError.self) { try await socket.close() }
            #expect(error?.code == .connectionLost)
        }
    }

    @Test func theRequestMatchesTheRFC() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0, fields: ["Sec-WebSocket-Protocol: chat.v2"])
            try await peer.send(.text(peer.request.joined(separator: "\n")))
            try await echo(peer)
        } perform: { session in
            let call = session.get("chat", ["room": 7]).header(.origin, "https://example.com")
            let socket = try await call.webSocket { $0.subprotocols = ["chat.v2", "chat"] }
            #expect(socket.subprotocol == "chat.v2")
            var messages = socket.messages.makeAsyncIterator()
            let message = try await messages.next()
            guard case .text(let head)? = message else {
                Issue.record("\(String(describing: message)) is no text")
                return
            }
            let lines = head.split(separator: "\n").map(String.init)
            #expect(lines.first == "GET /chat?room=7 HTTP/1.1")
            for line in [
                "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "origin: https://example.com",
                "Sec-WebSocket-Protocol: chat.v2, chat",
            ] {
                #expect(lines.contains { $0.lowercased() == line.lowercased() }, "\(line) in \(lines)")
            }
            try await socket.close()
        }
    }

    /// The session uses HTTP/2 if the server does, and HTTP/2 requests have no Upgrade field.
    @Test func tlsAndPinsHoldAndHTTP1IsUsed() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity { $0.addresses = ["127.0.0.1"] }
        let echo = echo
        var configuration = MockServer.Configuration()
        configuration.httpVersions = .both
        let server = try await MockServer.startRaw(
            tls: identity, configuration: configuration
        ) { try await echo(.accepted(on: $0)) }
        let anchors = try TrustAnchors.certificates([pki.root])
        for pin in [identity.pin, try TestPKI.selfSigned().pin] {
            let session = try HTTPSession(baseURL: server.url) {
                $0.securityPolicy = try .publicKeyPins([pin], anchors: anchors)
            }
            if pin == identity.pin {
                let socket = try await session.get("wss://127.0.0.1:\(server.port)/").webSocket()
                try await socket.send("secure")
                var messages = socket.messages.makeAsyncIterator()
                #expect(try await messages.next() == .text("secure"))
                #expect(socket.response.metrics.last?.isPinned == true)
                try await socket.close()
            } else {
                let error = await #expect(throws: SessionError.self) { _ = try await session.get("/").webSocket() }
                #expect(error?.code == .trustRefused)
            }
            await session.shutdown()
        }
        await server.shutdown()
    }

    @Test func bytesThatFollowTheResponseAreRead() async throws {
        try await withPeer {
            let early = Frame.text("early").bytes + Frame.text("bird").bytes.prefix(3)
            let peer = try await WebSocketPeer.accepted(on: $0, following: early)
            try await $0.write(Data(Frame.text("bird").bytes.dropFirst(3)))
            try await echo(peer)
        } perform: { session in
            let socket = try await session.get("/").webSocket()
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("early"))
            #expect(try await messages.next() == .text("bird"))
            try await socket.close()
        }
    }

    @Test func fragmentsAreOneMessage() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            try await peer.send(
                Frame(isFinal: false, opcode: 1, payload: [0xE2]), .ping("now"),
                Frame(isFinal: false, opcode: 0, payload: [0x82]), Frame(opcode: 0, payload: [0xAC]))
            var frames = peer.frames()
            let pong = try await frames.next()
            try await peer.send(.text(pong?.text ?? "none"))
            try await echo(peer)
        } perform: { session in
            let socket = try await session.get("/").webSocket()
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("€"))
            #expect(try await messages.next() == .text("now"))
            try await socket.close()
        }
    }

    // MARK: Ends

    @Test func theServersCloseFrameEndsTheMessages() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            try await peer.send(.text("last"), .close(4001, "enough"))
            var frames = peer.frames()
            let answer = try await frames.next()
            #expect(answer?.closeCode == 4001)
        } perform: { session in
            let socket = try await session.get("/").webSocket()
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("last"))
            #expect(try await messages.next() == nil)
            await #expect(throws: WebSocketError.self) { try await socket.send("late") }
            let closure = try await socket.close()
            #expect(closure == WebSocket.Closure(code: WebSocket.CloseCode(rawValue: 4001), reason: "enough"))
        }
    }

    @Test func aConnectionThatEndsWithoutACloseFrameIsLost() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            try await peer.send(.text("last"))
        } perform: { session in
            let socket = try await session.get("/").webSocket()
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("last"))
            let error = await #expect(throws: WebSocketError.self) { _ = try await messages.next() }
            #expect(error?.code == .connectionLost)
            let closing = await #expect(throws: WebSocketError.self) { try await socket.close() }
            #expect(closing?.code == .connectionLost)
        }
    }

    @Test func aServerThatDoesNotAnswerTheCloseFrameIsDisconnected() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            var frames = peer.frames()
            while try await frames.next() != nil {}
        } perform: { session in
            let socket = try await session.get("/").webSocket { $0.closeTimeout = .milliseconds(50) }
            let error = await #expect(throws: WebSocketError.self) { try await socket.close() }
            #expect(error?.code == .connectionLost)
        }
    }

    @Test func aServerThatDoesNotAnswerAPingIsLost() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            var frames = peer.frames()
            while try await frames.next() != nil {}
        } perform: { session in
            let socket = try await session.get("/").webSocket {
                $0.pingInterval = .milliseconds(20)
                $0.pongTimeout = .milliseconds(50)
            }
            var messages = socket.messages.makeAsyncIterator()
            let error = await #expect(throws: WebSocketError.self) { _ = try await messages.next() }
            #expect(error?.code == .pongTimeout)
        }
    }

    @Test func answeredPingsKeepTheConnection() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            var frames = peer.frames()
            for _ in 0..<5 {
                #expect(try await frames.next()?.opcode == 9)
                try await peer.send(.pong())
            }
            try await peer.send(.text("alive"))
            try await echo(peer)
        } perform: { session in
            let socket = try await session.get("/").webSocket {
                $0.pingInterval = .milliseconds(5)
                $0.pongTimeout = .seconds(50)
            }
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("alive"))
            try await socket.close()
        }
    }

    @Test(arguments: [
        (Frame(reserved: 4, opcode: 1, payload: [0x61]), WebSocketError.Code.protocolViolation, 1002),
        (Frame(opcode: 3), .protocolViolation, 1002),
        (Frame(isFinal: false, opcode: 9), .protocolViolation, 1002),
        (Frame(opcode: 9, payload: Array(repeating: 0, count: 126)), .protocolViolation, 1002),
        (Frame(opcode: 0), .protocolViolation, 1002),
        (Frame(opcode: 1, payload: [0xFF]), .invalidText, 1007),
        (Frame(opcode: 2, payload: Array(repeating: 0, count: 1001)), .messageTooLarge, 1009),
    ])
    func aServerThatViolatesTheProtocolIsToldAndLeft(
        frame: WebSocketPeer.Frame, code: WebSocketError.Code, closeCode: Int
    ) async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            try await peer.send(.text("ok"), frame)
            var frames = peer.frames()
            let answer = try await frames.next()
            #expect(answer?.opcode == 8)
            #expect(answer?.closeCode == closeCode)
        } perform: { session in
            let socket = try await session.get("/").webSocket { $0.maximumMessageSize = 1000 }
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("ok"))
            let error = await #expect(throws: WebSocketError.self) { _ = try await messages.next() }
            #expect(error?.code == code)
            await #expect(throws: WebSocketError.self) { try await socket.send("late") }
        }
    }

    @Test(arguments: [UInt16(1005), 1006, 1015, 999, 2999, 5000])
    func closeCodesThatMustNotBeSentAreRefused(number: UInt16) async throws {
        try await withPeer {
            try await echo(.accepted(on: $0))
        } perform: { session in
            let socket = try await session.get("/").webSocket()
            let code = WebSocket.CloseCode(rawValue: number)
            let error = await #expect(throws: WebSocketError.self) { try await socket.close(code) }
            #expect(error?.code == .invalidClosure)
            let long = String(repeating: "ä", count: 62)
            let reason = await #expect(throws: WebSocketError.self) { try await socket.close(reason: long) }
            #expect(reason?.code == .invalidClosure)
            try await socket.close(.goingAway, reason: String(repeating: "a", count: 123))
        }
    }

    @Test func aReleasedWebSocketIsClosed() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            var frames = peer.frames()
            let frame = try await frames.next()
            try await peer.send(.close(1001))
            #expect(frame?.closeCode == 1001)
        } perform: { session in
            _ = try await session.get("/").webSocket()
            // Waits for the connection's end.
            await session.shutdown()
        }
    }

    @Test(arguments: [ShutdownMode.graceful, .immediate])
    func aShutDownEndsWebSockets(mode: ShutdownMode) async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            var frames = peer.frames()
            let frame = try await frames.next()
            #expect(frame?.closeCode == (mode == .graceful ? 1001 : nil))
            if mode == .graceful { try await peer.send(.close(1001)) }
        } perform: { session in
            let socket = try await session.get("/").webSocket()
            await session.shutdown(mode)
            var messages = socket.messages.makeAsyncIterator()
            switch mode {
            case .graceful: #expect(try await messages.next() == nil)
            case .immediate: await #expect(throws: WebSocketError.self) { _ = try await messages.next() }
            }
        }
    }

    /// Dedicated event loops end with the session.
    @Test func callsAfterTheEndOfTheEventLoopsReturn() async throws {
        try await withPeer {
            $0.eventLoops = .dedicated(threads: 1)
        } serve: {
            let peer = try await WebSocketPeer.accepted(on: $0)
            var frames = peer.frames()
            while try await frames.next() != nil {}
        } perform: { session in
            let socket = try await session.get("/").webSocket { $0.closeTimeout = .milliseconds(20) }
            await session.shutdown()
            let error = await #expect(throws: WebSocketError.self) { try await socket.send("late") }
            #expect(error?.code == .closed)
            await #expect(throws: WebSocketError.self) { try await socket.close() }
        }
    }

    // MARK: Tasks

    @Test func cancellingAReaderKeepsTheWebSocket() async throws {
        try await withPeer {
            try await echo(.accepted(on: $0))
        } perform: { session in
            let socket = try await session.get("/").webSocket()
            let reader = Task {
                var messages = socket.messages.makeAsyncIterator()
                return try await messages.next()
            }
            reader.cancel()
            let error = await #expect(throws: WebSocketError.self) { _ = try await reader.value }
            #expect(error?.code == .cancelled)
            try await socket.send("still here")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("still here"))
            try await socket.close()
        }
    }
}
