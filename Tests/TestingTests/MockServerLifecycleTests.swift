import CommandSupport
import FoundationEssentials
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerLifecycleTests {
    @Test func theURLNamesHostAndPort() async throws {
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        try await withMockServer(.text(""), configuration: configuration) { server in
            #expect(server.url.absoluteString == "http://localhost:\(server.port)/")
            let url = try server.url("/a%20b?c=d")
            #expect(url.absoluteString == "http://localhost:\(server.port)/a%20b?c=d")
            let error = #expect(throws: TestingError.self) { try server.url("a") }
            #expect(error?.code == .invalidURL)
        }
    }

    @Test func idleConnectionsAreClosedAndBusyOnesAreNot() async throws {
        let (unblocked, unblock) = AsyncStream<Void>.makeStream()
        let handler: MockServer.Handler = { request in
            if request.path == "/slow" { for await _ in unblocked { break } }
            return .text(request.path)
        }
        try await withMockServer(handler: handler) { server in
            try await Conversation.with(port: server.port) { busy in
                try await busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await server.nextRequest()
                try await Conversation.with(port: server.port) { idle in
                    try await idle.send("GET /fast HTTP/1.1\r\nHost: a\r\n\r\n")
                    _ = try await idle.receive(through: "/fast")
                    #expect(await server.closeIdleConnections() == 1)
                    #expect(await idle.receiveToEnd() == .fin)
                }
                unblock.yield()
                #expect(try await busy.receive(through: "/slow").hasSuffix("/slow"))
            }
        }
    }

    /// The streams that arrive between the end of the task that serves them and the end of the connection.
    @Test func streamsThatAreOpenedDuringTheShutdownAreReleased() async throws {
        let configuration = MockServer.Configuration { $0.httpVersions = .http2 }
        for _ in 0..<20 {
            try await withMockServer(.text("ab"), configuration: configuration) { server in
                try await FrameClient.with(port: server.port) { client in
                    try await client.ping(1)
                    try await client.receive(until: "pong 1")
                    async let end: Void = server.shutdown()
                    for stream in stride(from: 1, to: 60, by: 2) {
                        guard (try? await client.get(stream)) != nil else { break }
                    }
                    await end
                }
            }
        }
    }

    @Test func anIdleHTTP2ConnectionReceivesGoAwayAndABusyOneContinues() async throws {
        let unblocked = Signal()
        let configuration = MockServer.Configuration { $0.httpVersions = .http2 }
        let handler: MockServer.Handler = { request in
            if request.path == "/slow" { await unblocked.wait() }
            return .text("ab")
        }
        try await withMockServer(configuration: configuration, handler: handler) { server in
            try await FrameClient.with(port: server.port) { busy in
                try await busy.get(1, path: "/slow")
                _ = try await server.nextRequest()
                try await FrameClient.with(port: server.port) { idle in
                    try await idle.get(1)
                    try await idle.receive(until: "1 data 2 end")
                    #expect(await server.closeIdleConnections() == 1)
                    await idle.receiveToEnd()
                    #expect(idle.frames(0).contains("goaway 1 0"))
                }
                unblocked.fire()
                #expect(try await busy.receive(until: "1 data 2 end"))
            }
        }
    }

    @Test func shutdownCancelsHandlersOfAllStreams() async throws {
        let configuration = MockServer.Configuration { $0.httpVersions = .http2 }
        let server = try await MockServer.start(configuration: configuration) { _ in
            try? await ManualClock().sleep(for: .seconds(1))
            return .text("")
        }
        try await FrameClient.with(port: server.port) { client in
            try await client.get(1, 3, 5)
            for _ in 0..<3 { _ = try await server.nextRequest() }
            async let end: Void = server.shutdown()
            await client.receiveToEnd()
            await end
            #expect(server.openConnections == 0)
            #expect(server.connectionFailures.isEmpty)
        }
    }

    @Test func aConnectionClosesAfterItsLastRequest() async throws {
        let configuration = MockServer.Configuration { $0.maximumRequestsPerConnection = 2 }
        try await withMockServer(configuration: configuration, handler: { .text($0.path) }) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await !conversation.receive(through: "/1").contains("Connection: close"))
                try await conversation.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(await conversation.receiveToEnd() == .fin)
                #expect(conversation.received.contains("Connection: close"))
            }
        }
    }

    @Test func aHandlerIsCancelledWhenItsClientDisconnects() async throws {
        let (cancellations, cancelled) = AsyncStream<Void>.makeStream()
        let handler: MockServer.Handler = { _ in
            try? await ManualClock().sleep(for: .seconds(1))
            if Task.isCancelled { cancelled.yield() }
            return .text("")
        }
        try await withMockServer(handler: handler) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await server.nextRequest()
            }
            for await _ in cancellations { break }
        }
    }

    @Test func shutdownCancelsHandlersAndClosesConnections() async throws {
        let server = try await MockServer.start { _ in
            try? await ManualClock().sleep(for: .seconds(1))
            return .text("")
        }
        try await Conversation.with(port: server.port) { conversation in
            try await conversation.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await server.nextRequest()
            async let again: Void = server.shutdown()
            await server.shutdown()
            await again
            _ = await conversation.receiveToEnd()
            #expect(server.openConnections == 0)
        }
    }

    @Test func theScopedServerEndsWhenItsBodyThrows() async throws {
        struct Stop: Error {}
        var kept: MockServer?
        await #expect(throws: Stop.self) {
            try await withMockServer(.text("")) { server in
                kept = server
                throw Stop()
            }
        }
        let server = try #require(kept)
        let error = await #expect(throws: TestingError.self) { try await server.nextRequest() }
        #expect(error?.code == .shutDown)
    }

    // In a separate process, in which no other test opens descriptors or listens on a released port.
    @Test func shutdownLeavesNoSocketDescriptorOrThread() async {
        await #expect(processExitsWith: .success) {
            try await useServers(3)
            let before = try await Resources.withoutThreads()
            try await useServers(20)
            let after = try await Resources.withoutThreads()
            try #require(after == before, "\(before) before, \(after) after")
        }
    }
}

/// Starts and shuts down servers with idle and with stalled connections.
private func useServers(_ count: Int) async throws {
    for index in 0..<count {
        let configuration = MockServer.Configuration {
            if index.isMultiple(of: 2) { $0.faults = .always(.init(.stall, at: .responseBody(after: 1))) }
        }
        let server = try await MockServer.start(configuration: configuration) { _ in .text("xy") }
        try await Conversation.with(port: server.port) { conversation in
            try await conversation.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await conversation.receive(through: index.isMultiple(of: 2) ? "x" : "xy")
            await server.shutdown()
        }
        await #expect(throws: (any Error).self) { try await transcript(of: "", port: server.port) }
    }
    for index in 0..<count { try await useServerOverHTTP2(stalls: index.isMultiple(of: 2)) }
}

/// Starts and shuts down a server with an HTTP/2 connection that is idle or has a stalled stream.
private func useServerOverHTTP2(stalls: Bool) async throws {
    let configuration = MockServer.Configuration {
        $0.httpVersions = .both
        if stalls { $0.faults = .always(.init(.stall, at: .responseBody(after: 1))) }
    }
    let server = try await MockServer.start(configuration: configuration) { _ in .text("xy") }
    try await FrameClient.with(port: server.port) { client in
        try await client.get(1)
        try await client.receive(until: stalls ? "1 data 1" : "1 data 2 end")
        async let end: Void = server.shutdown()
        await client.receiveToEnd()
        await end
    }
}

/// The system resources of this process.
private struct Resources: Equatable {
    private static let eventLoops = ProcessThreads("NIO-ELT")

    let descriptors: Int
    let eventLoopThreads: Int

    init() throws {
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        eventLoopThreads = Self.eventLoops.count
    }

    /// The resources once no event loop has a thread.
    static func withoutThreads() async throws -> Self {
        // The first timer of a process opens descriptors, and `end()` sleeps only if a thread is still listed.
        try await Task.sleep(for: .milliseconds(1))
        _ = try await eventLoops.end()
        return try Self()
    }
}
