import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// A session uses its transport through the protocol alone. Most of its members have a default.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct CustomTransportTests {
    private struct RecordingTransport: Transport {
        enum Call: Sendable, Equatable {
            case discard(TransportResources)
            case prewarm(String, Int)
        }

        let calls = EventRecorder<Call>()
        var enforcesRequestTimeout = true
        let stub = StubTransport()
        /// The tasks that sent the requests.
        let tasks = EventRecorder<Int?>()

        func send(
            _ request: TransportRequest, observer: (any TransportObserver)?
        ) async throws(TransportError) -> TransportResponse {
            tasks.record(CustomTransportTests.currentTask)
            return try await stub.send(request, observer: observer)
        }

        func discard(_ resources: TransportResources) { calls.record(.discard(resources)) }

        func prewarm(_ head: HTTPRequest, connections count: Int) throws(TransportError) {
            guard head.authority != "refused.test" else {
                throw TransportError(.cleartextRefused, "The policy refuses clear text to refused.test.")
            }
            calls.record(.prewarm("\(head.scheme ?? "")://\(head.authority ?? "")", count))
        }

        func shutdown(_ mode: ShutdownMode) async { await stub.shutdown(mode) }
    }

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test func theTransportDiscardsAndPrewarms() async throws {
        let transport = RecordingTransport()
        let session = try HTTPSession(transport: transport)
        session.closeIdleConnections()
        session.retireConnections()
        session.clearResolvedNames()
        try session.prewarm(try url("https://a.test/path"), connections: 3)
        #expect(
            transport.calls.events == [
                .discard(.idleConnections), .discard(.connections), .discard(.resolvedNames),
                .prewarm("https://a.test", 3),
            ])
        let refused = try url("http://refused.test/")
        let error = #expect(throws: SessionError.self) { try session.prewarm(refused) }
        #expect(error?.code == .trustRefused)
        await session.shutdown()
    }

    @Test func aKnownHSTSHostIsPrewarmedForHTTPS() async throws {
        let transport = RecordingTransport()
        var configuration = HTTPSession.Configuration()
        let store = HSTSStore()
        store.add([HSTSStore.Host(name: "a.test", includesSubdomains: false, expires: .distantFuture)])
        configuration.hstsStore = store
        let session = try HTTPSession(configuration: configuration, transport: transport)
        try session.prewarm(try url("http://a.test/"))
        try session.prewarm(try url("http://b.test/"))
        #expect(transport.calls.events == [.prewarm("https://a.test", 1), .prewarm("http://b.test", 1)])
        await session.shutdown()
    }

    @Test func theDefaultsDoNothing() async throws {
        let session = try HTTPSession(transport: StubTransport())
        session.closeIdleConnections()
        session.retireConnections()
        session.clearResolvedNames()
        try session.prewarm(try url("https://a.test/"))
        let noHost = try url("file:///etc/hosts")
        let error = #expect(throws: SessionError.self) { try session.prewarm(noHost) }
        #expect(error?.code == .invalidURL)
        #expect(session.taskExecutors.isEmpty)
        await session.shutdown()
    }

    /// A session that limits the time itself needs a task that it can cancel.
    @Test(arguments: [true, false])
    func theRequestTimeoutIsEnforcedOnce(enforcesRequestTimeout: Bool) async throws {
        let transport = RecordingTransport(enforcesRequestTimeout: enforcesRequestTimeout)
        let session = try HTTPSession(transport: transport)
        let call = session.get("https://a.test/").timeout(.seconds(3_600))
        #expect(try await call.response().head.status == .ok)
        #expect((transport.tasks.events == [Self.currentTask]) == enforcesRequestTimeout)
        await session.shutdown()
    }
}
