import LinnetReachability
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

/// Options that forbid the network are kept, or the request fails.
@Suite(.timeLimit(.minutes(5)))
struct NetworkOptionTests {
    private func send(
        over transport: StubTransport, _ configure: (inout Session.Configuration) throws -> Void = { _ in },
        options: (inout RequestOptions) -> Void
    ) async throws -> SessionError? {
        var configuration = Session.Configuration()
        try configure(&configuration)
        var request = try makeRequest()
        options(&request.options)
        let session = Session(configuration: configuration, transport: transport)
        return await Result { () async throws(SessionError) in try await session.data(for: request) }.error
    }

    @Test func whatMayComeFromTheCacheAloneIsNotSent() async throws {
        let transport = StubTransport()
        let error = try await send(over: transport) { $0.cachePolicy = .cacheOnly }
        #expect(error?.code == .networkNotAllowed)
        #expect(transport.requests.isEmpty)
    }

    @Test func anInterceptorMayAnswerWhatIsNotSent() async throws {
        struct Stored: Interceptor {
            func intercept(_ request: Request, next: Next) async throws -> EngineResponse {
                EngineResponse(url: request.url, head: .init(status: .ok))
            }
        }
        let error = try await send(over: StubTransport()) {
            $0.interceptors = [Stored()]
        } options: {
            $0.cachePolicy = .cacheOnly
        }
        #expect(error == nil)
    }

    @Test func whatNobodyCanTellIsNotSentWhereItMatters() async throws {
        let transport = StubTransport()
        let error = try await send(over: transport) { $0.allowsExpensiveNetworks = false }
        #expect(error?.code == .networkNotAllowed)
        #expect(transport.requests.isEmpty)
        #expect(try await send(over: transport) { $0.allowsExpensiveNetworks = true } == nil)
    }

    @Test func aNetworkThatIsNotExpensiveIsUsed() async throws {
        let monitor = try ReachabilityMonitor()
        defer { monitor.stop() }
        try #require(monitor.status.isKnown && !monitor.status.isExpensive)
        let error = try await send(over: StubTransport()) {
            $0.reachabilityMonitor = monitor
        } options: {
            $0.allowsExpensiveNetworks = false
        }
        #expect(error == nil)
    }
}
