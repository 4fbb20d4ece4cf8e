import FoundationEssentials
import Linnet
import LinnetWebSocket
import Testing

/// Against the server of the Python package `websockets`, which sends a Ping frame every 200 milliseconds.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct WebSocketTests {
    @Test(arguments: ["echo", "fragments"], [false, true])
    func messagesAreEchoed(path: String, compressed: Bool) async throws {
        try await Server.webSockets.withSession { session in
            let socket = try await session.get(path).webSocket {
                $0.maximumMessageSize = 1 << 24
                $0.compresses = compressed
            }
            let extensions = socket.response.head.headerFields[.secWebSocketExtensions]
            #expect(extensions?.hasPrefix("permessage-deflate") ?? false == compressed)
            var messages = socket.messages.makeAsyncIterator()
            for size in [0, 1, 125, 126, 127, 65_535, 65_536, 300_000] where size > 0 || path == "echo" {
                let text = String((0..<size).map { "äbc€"[$0 % 4] })
                try await socket.send(text)
                #expect(try await messages.next() == .text(text))
                let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                try await socket.send(bytes)
                #expect(try await messages.next() == .binary(bytes))
            }
            #expect(try await socket.close(reason: "done").code == .normalClosure)
        }
    }

    @Test func concurrentSendersLoseNothing() async throws {
        try await Server.webSockets.withSession { session in
            let socket = try await session.get("echo").webSocket()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sender in 0..<20 {
                    group.addTask { for number in 0..<50 { try await socket.send("\(sender) \(number)") } }
                }
                var received = Set<WebSocket.Message>()
                for try await message in socket.messages {
                    received.insert(message)
                    if received.count == 1_000 { break }
                }
                try await group.waitForAll()
                #expect(received.count == 1_000)
            }
            try await socket.close()
        }
    }

    @Test func orderAndLimitsHold() async throws {
        try await Server.webSockets.withSession { session in
            let socket = try await session.get("count").webSocket()
            var number = 0
            for try await message in socket.messages {
                guard message == .text(String(number)) else {
                    Issue.record("\(message) instead of \(number)")
                    break
                }
                number += 1
                if number == 10_000 { break }
            }
            try await socket.close()
            let large = try await session.get("large").webSocket()
            var messages = large.messages.makeAsyncIterator()
            let error = await #expect(throws: WebSocketError.self) { _ = try await messages.next() }
            #expect(error?.code == .messageTooLarge)
        }
    }

    /// Forty connections end while their reader has not begun to read.
    @Test(arguments: [false, true])
    func allMessagesBeforeTheEndOfAConnectionArrive(compressed: Bool) async throws {
        try await Server.webSockets.withSession { session in
            var counts: [Int] = []
            for _ in 0..<40 {
                let socket = try await session.get("last-words").webSocket { $0.compresses = compressed }
                // Nothing can be sent once the end of the connection was received.
                while (try? await socket.send("still there?")) != nil {}
                var number = 0
                do throws(WebSocketError) {
                    for try await message in socket.messages {
                        guard message == .text(String(number)) else { break }
                        number += 1
                    }
                    #expect(try await socket.close().code.rawValue == 4001)
                } catch {
                    Issue.record("after \(number) messages: \(error)")
                }
                counts.append(number)
            }
            #expect(counts == Array(repeating: 600, count: 40))
        }
    }

    @Test func theServersCodeAndReasonArrive() async throws {
        try await Server.webSockets.withSession { session in
            let socket = try await session.get("close").webSocket { $0.subprotocols = ["chat.v1", "chat.v2"] }
            #expect(socket.subprotocol == "chat.v2")
            try await socket.send("now")
            for try await message in socket.messages { Issue.record("\(message)") }
            let closure = try await socket.close()
            #expect(closure.code.rawValue == 4000)
            #expect(closure.reason == "as asked")
        }
    }
}

extension String {
    fileprivate subscript(index: Int) -> Character { self[self.index(startIndex, offsetBy: index)] }
}
