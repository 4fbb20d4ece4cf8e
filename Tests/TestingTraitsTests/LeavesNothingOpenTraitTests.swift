import LinnetSession
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetTestingTraits

/// `.leavesNothingOpen`: sessions and servers of a test that are open at its end.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct LeavesNothingOpenTraitTests {
    /// The trait without the wait for the last references.
    private static let impatient = LeavesNothingOpenTrait(patience: .zero)

    /// Keeps the sessions that a test leaves open, until they are shut down after the check.
    private final class Keeper: RequestAdapter {
        private let sessions = Mutex<[HTTPSession]>([])

        func adapt(_ request: SessionRequest) -> SessionRequest { request }

        func keep(_ session: HTTPSession) { sessions.withLock { $0.append(session) } }

        func shutdown() async {
            let kept = sessions.withLock { sessions in
                defer { sessions = [] }
                return sessions
            }
            for session in kept { await session.shutdown() }
        }
    }

    @Test(.leavesNothingOpen, .mockServer(.text("hello")))
    func aSessionThatIsShutDownIsNoIssue() async throws {
        let session = try HTTPSession(baseURL: MockServer.current.url)
        #expect(try await session.get("/").text() == "hello")
        await session.shutdown()
    }

    @Test(.leavesNothingOpen, .mockServer(.text("hello")))
    func aSessionThatIsReleasedIsNoIssue() async throws {
        let session = try HTTPSession(baseURL: MockServer.current.url)
        #expect(try await session.get("/").text() == "hello")
    }

    @Test(.mockServer(.text("hello")))
    func aSessionThatIsKeptIsAnIssueWithItsConnections() async throws {
        let keeper = Keeper()
        try await expectIssue("The test left open: an HTTP transport (open connections: 1)") {
            try await run(Self.impatient) {
                let session = try HTTPSession(baseURL: MockServer.current.url)
                keeper.keep(session)
                #expect(try await session.get("/").text() == "hello")
            }
        }
        await keeper.shutdown()
    }

    private struct Weak { weak var keeper: Keeper? }

    @Test func aCycleOfReferencesThroughASessionIsAnIssue() async throws {
        let left = Mutex(Weak())
        try await expectIssue("The test left open: an HTTP transport (open connections: 0)") {
            try await run(Self.impatient) {
                let keeper = Keeper()
                keeper.keep(try HTTPSession { $0.requestAdapters = [keeper] })
                left.withLock { $0.keeper = keeper }
            }
        }
        let keeper = try #require(left.withLock { $0.keeper })
        await keeper.shutdown()
    }

    @Test func aServerThatRunsIsAnIssue() async throws {
        let servers = Mutex<[MockServer]>([])
        let proxies = Mutex<[FaultProxy]>([])
        try await withKnownIssue {
            try await run(Self.impatient) {
                let server = try await MockServer.start { _ in .text("") }
                let proxy = try await FaultProxy.start()
                servers.withLock { $0.append(server) }
                proxies.withLock { $0.append(proxy) }
                let ended = try await MockServer.start { _ in .text("") }
                await ended.shutdown()
            }
        } matching: { issue in
            let urls = servers.withLock { $0.map(\.url) } + proxies.withLock { $0.map(\.httpURL) }
            let text = urls.map { "the server at \($0)" }.joined(separator: "; ")
            return issue.comments.map(\.rawValue) == ["The test left open: \(text)"]
        }
        for server in servers.withLock({ $0 }) { await server.shutdown() }
        for proxy in proxies.withLock({ $0 }) { await proxy.shutdown() }
    }

    @Test func whatOthersMakeIsNotCounted() async throws {
        let before = try HTTPSession()
        let keeper = Keeper()
        try await run(Self.impatient) {
            try await Task.detached { keeper.keep(try HTTPSession()) }.value
            // The ledger of a test within has it.
            try await expectIssue("The test left open: an HTTP transport (open connections: 0)") {
                try await run(Self.impatient) { keeper.keep(try HTTPSession()) }
            }
        }
        await before.shutdown()
        await keeper.shutdown()
    }

    @Test func theLastReferenceMayBeReleasedAfterTheTest() async throws {
        try await run(LeavesNothingOpenTrait(patience: .seconds(60))) {
            let session = try HTTPSession()
            Task {
                for _ in 0..<100 { await Task.yield() }
                withExtendedLifetime(session) {}
            }
        }
    }

    @Test func aTestThatThrowsIsNotChecked() async throws {
        let keeper = Keeper()
        await #expect(throws: Failure.self) {
            try await run(Self.impatient) {
                keeper.keep(try HTTPSession())
                throw Failure()
            }
        }
        await keeper.shutdown()
    }
}
