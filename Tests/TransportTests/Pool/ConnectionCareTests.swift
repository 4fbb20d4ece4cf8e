import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import NIOPosix
import Testing

@Suite("Upkeep of connections", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ConnectionCareTests {
    /// Waits for a condition that another thread establishes; the suite's time limit bounds it.
    private func until(_ condition: () -> Bool) async {
        while !condition(), !Task.isCancelled { await Task.yield() }
    }

    @Test func retiredConnectionsServeNoRequest() async throws {
        let release = LinnetTesting.Signal()
        try await withMockServer { request in
            if request.path == "/slow" { await release.wait() }
            return .text(request.path)
        } perform: { server in
            try await withTransport { transport in
                async let slow = transport.send(server.request(.get, "/slow"))
                _ = try await server.nextRequest()
                _ = try await transport.send(server.request(.get, "/idle"))
                await until { transport.openConnections == 2 }
                transport.discard(.connections)
                await until { transport.openConnections == 1 }
                release.fire()
                #expect(try await slow.text == "/slow")
                await until { transport.openConnections == 0 }
                let next = try await transport.send(server.request(.get, "/next"))
                #expect(!next.metrics.isReusedConnection)
            }
            #expect(server.acceptedConnections == 3)
        }
    }

    /// The timer may fire, on another event loop, before the thread that sets it goes on.
    @Test func everyUnusedConnectionExpires() async throws {
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            try await withTransport({
                $0.eventLoops = .dedicated(threads: 2)
                $0.pool.idleTimeout = .zero
            }) { transport in
                for _ in 0..<300 {
                    _ = try await transport.send(server.request())
                    await until { transport.openConnections == 0 }
                }
            }
            #expect(server.acceptedConnections == 300)
        }
    }

    @Test func oldConnectionsAreReplaced() async throws {
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            try await withTransport({ $0.pool.maximumAge = .zero }) { transport in
                for _ in 0..<3 {
                    let response = try await transport.send(server.request())
                    #expect(!response.metrics.isReusedConnection)
                }
                await until { transport.openConnections == 0 }
            }
        }
    }

    @Test func aConnectionIsOpenBeforeTheFirstRequest() async throws {
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            try await withTransport { transport in
                try transport.prewarm(server.request().head, connections: 2)
                await until { server.acceptedConnections == 2 }
                await until { transport.openConnections == 2 }
                for _ in 0..<3 { _ = try await transport.send(server.request()) }
                #expect(server.acceptedConnections == 2)
            }
        }
    }

    @Test func prewarmingAnUnreachableHostFailsNothing() async throws {
        try await withTransport { transport in
            // No server listens on the discard port of this address.
            let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:9", path: "/")
            try transport.prewarm(head)
            await until { transport.openConnections == 0 }
            #expect(throws: TransportError.self) {
                try transport.prewarm(HTTPRequest(method: .get, scheme: "ftp", authority: "a", path: "/"))
            }
        }
    }

    // MARK: Event loops

    @Test func tasksOnAnEventLoopUseItsConnections() async throws {
        try await withMockServer { request in
            .text(request.path)
        } perform: { server in
            try await withTransport({
                $0.eventLoops = .dedicated(threads: 3)
                $0.pool.connectionsPerOrigin = 12
            }) { transport in
                #expect(transport.taskExecutors.count == 3)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<12 {
                        group.addTask(executorPreference: transport.taskExecutors[worker % 3]) {
                            for index in 0..<50 {
                                let path = "/\(worker)/\(index)"
                                let response = try await transport.send(server.request(.get, path))
                                #expect(response.text == path)
                                #expect(MultiThreadedEventLoopGroup.currentEventLoop != nil)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(server.acceptedConnections <= 12)
        }
    }

    /// Requests from many threads over few connections, while policies are replaced and connections retired.
    @Test(arguments: [1, 2, 5])
    func everyRequestIsServedUnderContention(limit: Int) async throws {
        try await withMockServer { request in
            .text(request.path)
        } perform: { server in
            try await withTransport({
                $0.eventLoops = .dedicated(threads: 3)
                $0.pool.connectionsPerOrigin = limit
                $0.pool.connections = limit
            }) { transport in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<24 {
                        group.addTask {
                            for index in 0..<40 {
                                let path = "/\(worker)/\(index)"
                                let response = try await transport.send(server.request(.get, path))
                                #expect(response.text == path)
                                if (worker + index).isMultiple(of: 97) { transport.discard(.connections) }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
