import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// A finished exchange is released, whatever its caller keeps.
@Suite("The lifetime of what a session sends", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ExchangeLifetimeTests {
    enum Path: CaseIterable, Sendable {
        case bytesReadToTheEnd, bytesDropped, missingData, download, missingDownload, upload, events, streamTask
    }

    private static let size = 1_000_000

    private static let routes = MockServer.Routes { routes in
        let body = MockResponse.Body.bytes(Data(count: size))
        routes.on(.get, "/body", MockResponse(body: body))
        routes.on(.get, "/missing", MockResponse(status: .notFound, body: body))
        routes.on(.put, "/body") { .text("\($0.body.count)") }
        routes.on(.get, "/events") { _ in
            MockResponse(
                headerFields: [.contentType: "text/event-stream"],
                body: .text(String(repeating: "data: x\n\n", count: 50_000)))
        }
    }

    /// Runs the path; returns the objects that a caller may keep afterwards.
    private func go(_ path: Path, _ session: HTTPSession, _ server: MockServer) async throws -> any Sendable {
        let (body, missing) = (
            SessionRequest(url: try server.url("/body")), SessionRequest(url: try server.url("/missing"))
        )
        switch path {
        case .bytesReadToTheEnd:
            let response = try await session.call(body).bytes()
            #expect(try await response.body.collect(upTo: .max).count == Self.size)
            return response
        case .bytesDropped:
            return try await session.call(body).bytes().head
        case .missingData:
            let error = await #expect(throws: SessionError.self) { try await session.call(missing).response() }
            return error
        case .download:
            return try await withScratchFolder { try await session.call(body).download(to: $0["file"]) }
        case .missingDownload:
            return try await withScratchFolder { folder in
                await #expect(throws: SessionError.self) {
                    try await session.call(missing).download(to: folder["file"])
                }
            }
        case .upload:
            let task = try session.call(SessionRequest(url: server.url("/body"), method: .put)).body(
                .data(Data(count: Self.size))
            ).task(DataResponseSerializer())
            task.resume()
            let response = try await task.value
            #expect(String(decoding: response.value, as: UTF8.self) == "\(Self.size)")
            return task
        case .events:
            var events = try session.call(SessionRequest(url: server.url("/events"))).serverSentEvents()
                .makeAsyncIterator()
            return try await events.next()
        case .streamTask:
            let task = session.call(body).streamTask()
            task.resume()
            let response = try await task.response
            #expect(try await response.body.collect(upTo: .max).count == Self.size)
            return task
        }
    }

    @Test(arguments: Path.allCases, Version.allCases)
    func finishedExchangesAreReleased(path: Path, version: Version) async throws {
        var configuration = MockServer.Configuration()
        configuration.httpVersions = version.ofServer
        try await withMockServer(routes: Self.routes, configuration: configuration) { server in
            let transport = try WatchedTransport { $0.httpVersions = version.ofClient }
            let session = try HTTPSession(transport: transport)
            var kept: [any Sendable] = []
            for _ in 0..<3 { kept.append(try await go(path, session, server)) }
            #expect(transport.observers.made >= 3)
            #expect(await transport.observers.areGone())
            withExtendedLifetime(kept) {}
            await session.shutdown()
        }
    }
}

/// A transport that gives each exchange its own observer, which only the exchange retains.
private final class WatchedTransport: Transport {
    /// How many observers there are.
    final class Census: Sendable {
        private let state = Mutex((made: 0, living: 0))

        var made: Int { state.withLock { $0.made } }

        func add() { state.withLock { $0 = ($0.made + 1, $0.living + 1) } }
        func remove() { state.withLock { $0.living -= 1 } }

        /// Whether all are released, now or soon.
        func areGone() async -> Bool {
            let deadline = ContinuousClock.now + .seconds(15)
            while state.withLock({ $0.living > 0 }) {
                guard .now < deadline else { return false }
                await Task.yield()
            }
            return true
        }
    }

    private final class Observer: TransportObserver {
        let base: (any TransportObserver)?
        let census: Census

        init(_ base: (any TransportObserver)?, _ census: Census) {
            (self.base, self.census) = (base, census)
            census.add()
        }

        deinit { census.remove() }

        func didReceiveInformational(_ head: HTTPResponse) { base?.didReceiveInformational(head) }
        func didSendBody(bytes: Int) { base?.didSendBody(bytes: bytes) }
        func didFinishAttempt(_ metrics: TransportMetrics) { base?.didFinishAttempt(metrics) }
    }

    let observers = Census()
    private let base: HTTPTransport

    init(_ configure: (inout TransportConfiguration) -> Void) throws {
        var configuration = TransportConfiguration()
        configure(&configuration)
        base = try HTTPTransport(configuration)
    }

    func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        try await base.send(request, observer: Observer(observer, observers))
    }

    func shutdown(_ mode: ShutdownMode) async {
        await base.shutdown(mode)
    }
}
