import FoundationEssentials
import HTTPTypes
import LinnetTesting
import NIOCore
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerUploadTests {
    static let streamed = MockServer.Configuration { $0.requestBodies = .streamed }
    static let expecting = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"

    @Test func continueIsSentBeforeTheBodyIsRead() async throws {
        try await withMockServer(handler: { .text($0.bodyText) }) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send(Self.expecting)
                #expect(try await conversation.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await conversation.send("abc")
                #expect(try await conversation.receive(through: "\r\n\r\nabc").hasPrefix("HTTP/1.1 200 OK"))
            }
        }
    }

    @Test func continueCanBeDisabled() async throws {
        let configuration = MockServer.Configuration { $0.sendsContinue = false }
        try await withMockServer(configuration: configuration, handler: { .text($0.bodyText) }) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send(Self.expecting + "abc")
                #expect(try await conversation.receive(through: "\r\n\r\nabc").hasPrefix("HTTP/1.1 200 OK"))
            }
        }
    }

    @Test func aHandlerThatIgnoresTheBodySendsNoContinueAndCloses() async throws {
        try await withMockServer(.status(.expectationFailed), configuration: Self.streamed) { server in
            let text = try await transcript(of: Self.expecting, port: server.port)
            #expect(text.hasPrefix("HTTP/1.1 417 "))
            #expect(text.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test func aStreamedBodyReachesTheHandlerAsItArrives() async throws {
        let (seen, see) = AsyncStream<String>.makeStream()
        let handler: MockServer.Handler = { request in
            var all = ""
            do {
                for try await chunk in request.chunks {
                    see.yield(String(decoding: chunk, as: UTF8.self))
                    all += String(decoding: chunk, as: UTF8.self)
                }
            } catch {
                return .status(.internalServerError)
            }
            return .text(all)
        }
        try await withMockServer(configuration: Self.streamed, handler: handler) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
                var arrivals = seen.makeAsyncIterator()
                #expect(await arrivals.next() == "abc")
                try await conversation.send("def")
                #expect(await arrivals.next() == "def")
                _ = try await conversation.receive(through: "\r\n\r\nabcdef")
            }
            let recorded = try await server.nextRequest()
            #expect(recorded.body.isEmpty)
            #expect(server.recordedRequests.first?.bodyLength == 6)
            #expect(server.recordedRequests.first?.isComplete == true)
        }
    }

    @Test func anEarlyResponseLetsTheConnectionBeReused() async throws {
        try await withMockServer(configuration: Self.streamed, handler: { .text($0.path) }) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send("POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
                _ = try await conversation.receive(through: "/first")
                try await conversation.send("defGET /second HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await conversation.receive(through: "/second")
            }
            #expect(server.recordedRequests.map(\.exchangeIndex) == [0, 1])
        }
    }

    @Test func anUnreadBodyAppliesBackpressure() async throws {
        let (unblocked, unblock) = AsyncStream<Void>.makeStream()
        let handler: MockServer.Handler = { request in
            for await _ in unblocked { break }
            return .text("\((try? await request.chunks.reduce(0) { $0 + $1.count }) ?? -1)")
        }
        let size = 64 * 1024 * 1024
        try await withMockServer(configuration: Self.streamed, handler: handler) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
                let outbound = conversation.outbound
                async let sent: Void = outbound.write(ByteBuffer(repeating: UInt8(ascii: "x"), count: size))
                _ = try await server.nextRequest()
                // The body is larger than the socket buffers, so the client cannot have sent all of it.
                #expect(server.recordedRequests[0].bodyLength == 0)
                unblock.yield()
                try await sent
                #expect(try await conversation.receive(through: "\r\n\r\n\(size)").hasPrefix("HTTP/1.1 200"))
            }
        }
    }
}
