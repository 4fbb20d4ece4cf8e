import FoundationEssentials
import LinnetTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct MockServerLifecycleTests {
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

    @Test func aHandlerIsCancelledWhenItsClientLeaves() async throws {
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

    // In a process of its own, where nobody else opens descriptors, or listens on a port that was just given back.
    @Test func shutdownLeavesNoSocketDescriptorOrThread() async {
        await #expect(processExitsWith: .success) {
            try await useServers(3)
            let before = try Resources()
            try await useServers(20)
            let after = try Resources()
            try #require(after == before)
        }
    }
}

/// Starts and ends servers, with idle and with stalled connections.
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
}

/// What this process holds of the system's.
private struct Resources: Equatable {
    let descriptors: Int
    let eventLoopThreads: Int

    init() throws {
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        eventLoopThreads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
            let name = try? String(contentsOf: URL(filePath: "/proc/self/task/\(thread)/comm"), encoding: .utf8)
            return name?.hasPrefix("NIO-ELT") ?? false
        }
    }
}
