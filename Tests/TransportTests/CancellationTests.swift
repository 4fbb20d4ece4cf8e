import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

@Suite("Cancellation and shutdown", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct CancellationTests {
    private func start(
        _ transport: HTTPTransport, _ request: TransportRequest
    ) -> Task<TransportError?, Never> {
        Task {
            await failure { () async throws(TransportError) in
                let response = try await transport.send(request)
                _ = try await response.body.collect(upTo: .max)
                return response
            }
        }
    }

    private func stalling(
        at trigger: MockServer.Fault.Trigger = .responseHead
    ) async throws -> MockServer {
        try await MockServer.start { request in
            request.path == "/ok"
                ? .text("ok") : MockResponse(body: .bytes(Data(count: 100)), faults: [.init(.stall, at: trigger)])
        }
    }

    @Test func beforeTheStart() async throws {
        let server = try await stalling()
        try await withTransport { transport in
            let gate = Signal()
            let task = Task {
                await gate.wait()
                return await failure { () async throws(TransportError) in try await transport.send(server.request()) }
            }
            task.cancel()
            gate.send()
            #expect(await task.value?.code == .cancelled)
        }
        #expect(server.recordedRequests.isEmpty)
        await server.shutdown()
    }

    @Test(arguments: [ResponseDelivery.whole(upTo: 1000), .streamed])
    func whileTheServerThinks(delivery: ResponseDelivery) async throws {
        let server = try await stalling()
        try await withTransport { transport in
            let task = start(transport, server.request(delivery: delivery))
            _ = try await server.nextRequest()
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            try await expectText("ok", transport, server.request(.get, "/ok"))
        }
        await server.shutdown()
    }

    @Test func inTheMiddleOfABody() async throws {
        let server = try await stalling(at: .responseBody(after: 50))
        try await withTransport { transport in
            let response = try await transport.send(server.request(delivery: .streamed))
            let started = Signal()
            let reader = Task {
                started.send()
                return await failure { () async throws(TransportError) in
                    _ = try await response.body.collect(upTo: .max)
                    return response
                }
            }
            await started.wait()
            reader.cancel()
            #expect(await reader.value?.code == .cancelled)
        }
        await server.shutdown()
    }

    @Test func whileWaitingForAConnection() async throws {
        let server = try await stalling()
        try await withTransport({ $0.pool.connectionsPerOrigin = 1 }) { transport in
            let first = start(transport, server.request())
            _ = try await server.nextRequest()
            let second = start(transport, server.request())
            second.cancel()
            #expect(await second.value?.code == .cancelled)
            first.cancel()
            #expect(await first.value?.code == .cancelled)
        }
        await server.shutdown()
    }

    @Test func whileConnecting() async throws {
        let server = try await MockServer.startRaw { connection in try await connection.perform(.stall) }
        try await withTransport { transport in
            let head = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/")
            let task = start(transport, TransportRequest(head: head))
            while server.acceptedConnections == 0, !Task.isCancelled { await Task.yield() }
            task.cancel()
            #expect(await task.value?.code == .cancelled)
        }
        await server.shutdown()
    }

    @Test func gracefulShutdownLetsRequestsFinish() async throws {
        let gate = Signal()
        let server = try await MockServer.start { _ in
            await gate.wait()
            return .text("ok")
        }
        let transport = try HTTPTransport()
        let running = Task { () async throws(TransportError) in try await transport.send(server.request()) }
        _ = try await server.nextRequest()
        let ending = Task { await transport.shutdown(.graceful) }
        var refused: TransportError?
        while refused == nil {
            refused = await failure { () async throws(TransportError) in
                try await transport.send(server.request(.get, timeouts: TransportTimeouts(request: .milliseconds(1))))
            }
            if refused?.code == .requestTimeout { refused = nil }
        }
        #expect(refused?.code == .shutDown)
        gate.send()
        #expect(try await running.value.text == "ok")
        await ending.value
        #expect(transport.openConnections == 0)
        await server.shutdown()
    }

    @Test func immediateShutdownEndsRequests() async throws {
        let server = try await stalling()
        let transport = try HTTPTransport()
        let running = start(transport, server.request())
        _ = try await server.nextRequest()
        await transport.shutdown(.immediate)
        #expect(await running.value?.code == .shutDown)
        #expect(transport.openConnections == 0)
        await server.shutdown()
    }

    @Test func aTransportOfItsOwnThreadsEndsThem() async throws {
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            var configuration = TransportConfiguration()
            configuration.eventLoops = .dedicated(threads: 2)
            let transport = try HTTPTransport(configuration)
            try await expectText("ok", transport, server.request())
            await transport.shutdown(.graceful)
            let error = await failure { () async throws(TransportError) in try await transport.send(server.request()) }
            #expect(error?.code == .shutDown)
        }
    }

    @Test(arguments: [0, -1, 30_001, 65_535, .max])
    func limitsOnFieldsThatCannotBeKeptAreRefused(fields: Int) {
        var configuration = TransportConfiguration()
        configuration.limits.headFields = fields
        let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func limitsThatLeaveNoRoomAreRefused() {
        var configuration = TransportConfiguration()
        configuration.pool.connections = 0
        let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
        #expect(error?.code == .invalidConfiguration)
    }
}
