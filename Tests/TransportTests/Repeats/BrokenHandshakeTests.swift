import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// Servers that end a connection during the TLS handshake: the request was certainly not sent.
@Suite("Broken handshakes", .timeLimit(.minutes(1)))
struct BrokenHandshakeTests {
    typealias Failure = TransportMetrics.Failure

    @Test(arguments: [MockServer.Fault.Effect.close, .reset])
    func oneBrokenHandshakeFailsNoneOfFiftyRequests(effect: MockServer.Fault.Effect) async throws {
        let pki = try TestPKI()
        let anchors = try TrustAnchors.certificates([pki.root])
        let configuration = MockServer.Configuration { $0.faults = .connections([0], .init(effect, at: .connect)) }
        let server = try await MockServer.start(tls: try pki.identity(), configuration: configuration) { _ in
            .text("ok")
        }
        try await withTransport({ $0.securityPolicy = .systemTrust(anchors: anchors) }) { transport in
            let responses = try await withThrowingTaskGroup(of: TransportResponse.self) { group in
                for _ in 0..<50 { group.addTask { try await transport.send(server.request(.post, body: .text("a"))) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(responses.count == 50 && responses.allSatisfy { $0.text == "ok" })
            let tries = responses.map { $0.attempts.dropLast().map(\.failure) }
            #expect(tries.contains([.notConnected]) && tries.allSatisfy { $0.isEmpty || $0 == [.notConnected] })
        }
        #expect(server.recordedRequests.count == 50)
        await server.shutdown()
    }

    @Test func aServerThatBreaksEachHandshakeIsTriedSixTimesWithPauses() async throws {
        let server = try await MockServer.start(
            tls: try TestPKI().identity(),
            configuration: MockServer.Configuration { $0.faults = .always(.init(.close, at: .connect)) }
        ) { _ in .text("never") }
        let observers = (0..<20).map { _ in RecordingObserver() }
        try await withTransport { transport in
            let start = ContinuousClock.now
            let errors = await withTaskGroup(of: TransportError?.self) { group in
                for observer in observers {
                    group.addTask {
                        await failure { () async throws(TransportError) in
                            try await transport.send(server.request(), observer: observer)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // Half of 50, 100, 200 and 400 ms.
            #expect(start.duration(to: .now) >= .milliseconds(375))
            #expect(errors.count == 20 && errors.allSatisfy { $0?.code == .connectionClosed })
            #expect(errors.allSatisfy { $0?.attempts.last?.failure == .notConnected })
        }
        #expect(server.acceptedConnections == 6)
        // For a request before the end of the first try.
        let attempts = observers.map(\.record.attempts).max { $0.count < $1.count } ?? []
        #expect(attempts.map(\.failure) == Array(repeating: .notConnected, count: 6))
        #expect(Set(attempts.map(\.connectionID)).count == 6)
        #expect(attempts.allSatisfy { $0.connect != nil && $0.remoteAddress == "127.0.0.1:\(server.port)" })
        await server.shutdown()
    }

    @Test func theConnectTimeoutEndsTheTries() async throws {
        let server = try await MockServer.start(
            tls: try TestPKI().identity(),
            configuration: MockServer.Configuration { $0.faults = .always(.init(.close, at: .connect)) }
        ) { _ in .text("never") }
        try await withTransport({ $0.timeouts.connect = .milliseconds(60) }) { transport in
            let error = await failure { () async throws(TransportError) in try await transport.send(server.request()) }
            #expect([.connectionClosed, .connectTimeout].contains(error?.code))
        }
        #expect(server.acceptedConnections <= 4)
        await server.shutdown()
    }

    @Test func theRequestsTimeoutEndsTheTries() async throws {
        let server = try await MockServer.start(
            tls: try TestPKI().identity(),
            configuration: MockServer.Configuration { $0.faults = .always(.init(.close, at: .connect)) }
        ) { _ in .text("never") }
        let timeouts = TransportTimeouts(request: .milliseconds(100))
        var error: TransportError?
        // On a busy machine the first try can take longer.
        for _ in 0..<100 where error?.attempts.isEmpty ?? true {
            error = try await withTransport { transport in
                await failure { () async throws(TransportError) in
                    try await transport.send(server.request(timeouts: timeouts))
                }
            }
            #expect(error?.code == .requestTimeout)
        }
        #expect(error?.attempts.isEmpty == false)
        await server.shutdown()
    }

    @Test func thePolicyIsAskedOnlyOnce() async throws {
        let server = try await MockServer.start(tls: try TestPKI().identity()) { _ in .text("never") }
        try await withTransport({ $0.securityPolicy = .systemTrust }) { transport in
            let error = await failure { () async throws(TransportError) in try await transport.send(server.request()) }
            #expect(error?.code == .trustRefused)
            #expect(error?.attempts.map(\.failure) == [.notConnected])
        }
        #expect(server.acceptedConnections == 1)
        await server.shutdown()
    }

    @Test func anAddressThatRefusesIsAnAnswer() async throws {
        try await withTransport { transport in
            let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:9", path: "/")
            let error = await failure { () async throws(TransportError) in
                try await transport.send(TransportRequest(head: head))
            }
            #expect(error?.code == .connectionFailed)
            #expect(error?.attempts.map(\.failure) == [.notConnected])
        }
    }

    @Test func otherAddressesOfTheNameComeFirst() async throws {
        let pki = try TestPKI()
        let anchors = try TrustAnchors.certificates([pki.root])
        let server = try await MockServer.start(tls: try pki.identity { $0.hosts = ["two.test"] }) { _ in .text("ok") }
        let accepted = Atomic(0)
        let evil = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.add(1, ordering: .relaxed)
                return channel.close()
            }
            .bind(host: "127.0.0.2", port: server.port).get()
        try await withTransport({
            $0.securityPolicy = .systemTrust(anchors: anchors)
            $0.resolution.hostOverrides = ["two.test": ["127.0.0.2", "127.0.0.1"]]
        }) { transport in
            let head = HTTPRequest(method: .get, scheme: "https", authority: "two.test:\(server.port)", path: "/")
            let response = try await transport.send(TransportRequest(head: head))
            #expect(response.attempts.dropLast().map(\.remoteAddress) == ["127.0.0.2:\(server.port)"])
            #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
        }
        #expect(accepted.load(ordering: .relaxed) == 1)
        try await evil.close()
        await server.shutdown()
    }
}
