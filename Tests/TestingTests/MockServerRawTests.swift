import FoundationEssentials
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerRawTests {
    @Test func aScriptDeterminesTheBytesOfAConnection() async throws {
        let server = try await MockServer.startRaw { connection in
            let request = try await connection.read(through: "\n")
            try await connection.write("you said \(String(decoding: request, as: UTF8.self))")
        }
        #expect(try await transcript(of: "hello\n", port: server.port) == "you said hello\n")
        await server.shutdown()
        #expect(server.recordedRequests.isEmpty)
    }

    /// A body may come with its head.
    @Test(.timeLimit(.minutes(1))) func bytesBehindTheExpectedOnesAreReadNext() async throws {
        let server = try await MockServer.startRaw { connection in
            let head = try await connection.read(through: "\n")
            let more = try await connection.read(through: "end")
            let rest = try await connection.read()
            for part in [head, more, rest] {
                try await connection.write("[\(part.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")]")
            }
        }
        #expect(try await transcript(of: "a\nb\nthe endmore", port: server.port) == "[a\n][b\nthe end][more]")
        await server.shutdown()
    }

    @Test func aScriptCanReset() async throws {
        let server = try await MockServer.startRaw { connection in
            try await connection.read(through: "\n")
            try await connection.perform(.reset)
        }
        try await Conversation.with(port: server.port) { conversation in
            try await conversation.send("hello\n")
            #expect(await conversation.receiveToEnd() == .reset)
        }
        await server.shutdown()
    }

    @Test func aClientThatDisconnectsEarlyIsRecorded() async throws {
        let server = try await MockServer.startRaw { connection in
            try await connection.write("?")
            try await connection.read(through: "\n")
        }
        try await Conversation.with(port: server.port) { conversation in
            _ = try await conversation.receive(through: "?")
        }
        await server.shutdown()
        #expect(server.openConnections == 0)
    }
}
