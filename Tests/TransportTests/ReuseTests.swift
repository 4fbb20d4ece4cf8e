import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

@Suite("Connection reuse", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ReuseTests {
    @Test func requestsInARowShareAConnection() async throws {
        try await withMockServer { request in
            .text(request.path)
        } perform: { server in
            try await withTransport { transport in
                for index in 0..<5 {
                    let response = try await transport.send(server.request(.get, "/\(index)"))
                    #expect(response.text == "/\(index)")
                    #expect(response.metrics.isReusedConnection == (index > 0))
                }
            }
            #expect(server.acceptedConnections == 1)
            #expect(server.recordedRequests.map(\.exchangeIndex) == [0, 1, 2, 3, 4])
        }
    }

    @Test func aConnectionThatWillCloseIsNotUsedAgain() async throws {
        try await withMockServer { _ in
            MockResponse(body: .text("bye"), closesConnection: true)
        } perform: { server in
            try await withTransport { transport in
                for _ in 0..<3 { _ = try await transport.send(server.request()) }
            }
            #expect(server.acceptedConnections == 3)
        }
    }

    @Test func aRequestCanAskForTheEnd() async throws {
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            try await withTransport { transport in
                _ = try await transport.send(server.request(fields: [.connection: "close"]))
                _ = try await transport.send(server.request())
            }
            #expect(server.acceptedConnections == 2)
        }
    }

    @Test func http10ClosesUnlessItSaysOtherwise() async throws {
        let response = MockResponse.raw("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
        try await withMockServer { _ in
            response
        } perform: { server in
            try await withTransport { transport in
                for _ in 0..<2 { try await expectText("ok", transport, server.request()) }
            }
            #expect(server.acceptedConnections == 2)
        }
    }

    @Test func theLimitHoldsAndNothingIsMixedUp() async throws {
        try await withMockServer { request in
            .text(request.path)
        } perform: { server in
            try await withTransport({ $0.pool.connectionsPerOrigin = 3 }) { transport in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<200 {
                        group.addTask {
                            let response = try await transport.send(server.request(.get, "/\(index)"))
                            #expect(response.text == "/\(index)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(server.acceptedConnections <= 3)
            #expect(server.recordedRequests.count == 200)
        }
    }

    @Test func aConnectionThatEndedWhileIdleIsReplaced() async throws {
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            try await withTransport { transport in
                for _ in 0..<3 {
                    try await expectText("ok", transport, server.request())
                    await server.closeIdleConnections()
                }
            }
            #expect(server.recordedRequests.count == 3)
        }
    }

    /// The server reads a second request on a connection and closes without an answer.
    private func staleServer() async throws -> MockServer {
        try await MockServer.start { request in
            request.exchangeIndex == 0
                ? .text("ok") : MockResponse(faults: [.init(.close, at: .responseHead)])
        }
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .put, .delete])
    func anIdempotentRequestIsSentAgainOnce(method: HTTPRequest.Method) async throws {
        let server = try await staleServer()
        try await withTransport { transport in
            _ = try await transport.send(server.request())
            let response = try await transport.send(
                server.request(method, "/again", body: method == .put ? .text("body") : nil))
            #expect(response.head.status == .ok)
        }
        #expect(server.recordedRequests.map(\.path) == ["/", "/again", "/again"])
        await server.shutdown()
    }

    /// Opens connections with one request each.
    private func fill(_ transport: HTTPTransport, _ server: MockServer, connections count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { _ = try await transport.send(server.request(.get, "/fill")) }
            }
            try await group.waitForAll()
        }
    }

    /// A server that closes each connection on its second request; the first requests wait for each other.
    private func staleServer(connections count: Int) async throws -> MockServer {
        let arrivals = EventRecorder<Int>()
        return try await MockServer.start { request in
            if request.path == "/fill" {
                arrivals.record(request.connectionIndex)
                _ = try? await arrivals.wait(count: count)
            }
            return request.exchangeIndex == 0 && request.path != "/never"
                ? .text("ok") : MockResponse(faults: [.init(.close, at: .responseHead)])
        }
    }

    @Test func oneStaleConnectionRevealsTheOthers() async throws {
        let server = try await staleServer(connections: 4)
        try await withTransport { transport in
            try await fill(transport, server, connections: 4)
            let response = try await transport.send(server.request(.get, "/again"))
            #expect(response.head.status == .ok)
            #expect(!response.metrics.isReusedConnection)
        }
        #expect(server.recordedRequests.map(\.path).filter { $0 == "/again" }.count == 2)
        #expect(server.acceptedConnections == 5)
        await server.shutdown()
    }

    @Test func aFreshConnectionsFailureEndsTheRepeats() async throws {
        let server = try await staleServer(connections: 3)
        try await withTransport { transport in
            try await fill(transport, server, connections: 3)
            let error = await failure { () async throws(TransportError) in
                try await transport.send(server.request(.get, "/never"))
            }
            #expect(error?.code == .connectionClosed)
        }
        #expect(server.recordedRequests.map(\.path).filter { $0 == "/never" }.count == 2)
        await server.shutdown()
    }

    /// The eight requests of a round wait for each other, so that each needs its own connection, and no connection is
    /// being opened while the server closes the known ones.
    @Test func aRequestSurvivesTheLossOfAllIdleConnections() async throws {
        let arrivals = EventRecorder<Int>()
        try await withMockServer { request in
            arrivals.record(request.connectionIndex)
            let round = (arrivals.events.count + 7) / 8
            _ = try? await arrivals.wait(count: 8 * round)
            return .text("ok")
        } perform: { server in
            try await withTransport { transport in
                for _ in 0..<20 {
                    try await fill(transport, server, connections: 8)
                    await server.closeIdleConnections()
                }
            }
        }
        #expect(arrivals.events.count == 160)
    }

    @Test func aPostIsNotSentAgain() async throws {
        let server = try await staleServer()
        try await withTransport { transport in
            _ = try await transport.send(server.request())
            let error = await failure { () async throws(TransportError) in
                try await transport.send(server.request(.post, "/once", body: .text("body")))
            }
            #expect(error?.code == .connectionClosed)
        }
        #expect(server.recordedRequests.map(\.path) == ["/", "/once"])
        await server.shutdown()
    }

    @Test func aBodyThatIsNotReplayableIsNotSentAgain() async throws {
        let server = try await staleServer()
        try await withTransport { transport in
            _ = try await transport.send(server.request())
            let error = await failure { () async throws(TransportError) in
                try await transport.send(server.request(.put, "/once", body: .pieces(["a"], isReplayable: false)))
            }
            #expect(error?.code == .connectionClosed)
        }
        #expect(server.recordedRequests.count == 2)
        await server.shutdown()
    }

    @Test func aFreshConnectionsFailureIsNotRepeated() async throws {
        try await withMockServer { _ in
            MockResponse(faults: [.init(.close, at: .responseHead)])
        } perform: { server in
            let error = try await withTransport { transport in
                await failure { () async throws(TransportError) in try await transport.send(server.request()) }
            }
            #expect(error?.code == .connectionClosed)
            #expect(server.recordedRequests.count == 1)
        }
    }

    @Test func closingIdleConnectionsLeavesTheTransportUsable() async throws {
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            try await withTransport { transport in
                _ = try await transport.send(server.request())
                transport.discard(.idleConnections)
                try await expectText("ok", transport, server.request())
            }
            #expect(server.acceptedConnections == 2)
        }
    }
}
