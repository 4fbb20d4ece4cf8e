#if ServiceLifecycle
import FoundationEssentials
import LinnetServiceLifecycle
import LinnetSession
import LinnetTesting
import LinnetTransport
import Logging
import ServiceLifecycle
import Testing

@Suite("A session as a service", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ServiceLifecycleTests {
    /// The service group ends the last one first: it still uses the session.
    private struct LastRequest: Service {
        let session: HTTPSession
        let texts: EventRecorder<String>

        func run() async throws {
            try await gracefulShutdown()
            texts.record(try await session.get("a").text())
        }
    }

    private struct Trigger: Service {
        func run() async throws {}
    }

    @Test func aGracefulShutdownDrains() async throws {
        let texts = EventRecorder<String>()
        try await withMockServer(routes: MockServer.Routes { $0.on("/a") { _ in .text("hello") } }) { server in
            let session = try HTTPSession(baseURL: server.url)
            let group = ServiceGroup(
                configuration: .init(
                    services: [
                        .init(service: session), .init(service: LastRequest(session: session, texts: texts)),
                        .init(service: Trigger(), successTerminationBehavior: .gracefullyShutdownGroup),
                    ], logger: .init(label: "test")))
            try await group.run()
            await #expect(throws: SessionError.self) { try await session.get("a").text() }
        }
        #expect(try await texts.wait(count: 1) == ["hello"])
    }

    @Test func aCancelledServiceEndsItsRequests() async throws {
        try await withMockServer(
            routes: MockServer.Routes {
                $0.on("/a") { _ in MockResponse.text("hello").with(.init(.stall, at: .responseHead)) }
            }
        ) { server in
            let session = try HTTPSession(baseURL: server.url)
            let service = Task { try await session.run() }
            async let request = session.get("a").text()
            _ = try await server.nextRequest()
            service.cancel()
            do {
                _ = try await request
                Issue.record("The request did not fail.")
            } catch let error as SessionError {
                #expect(error.code == .shutDown)
            }
            try await service.value
        }
    }
}
#endif
