import HTTPTypes
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Testing

@testable import LinnetSession

@Suite("Retry budget", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct RetryBudgetTests {
    // MARK: The window

    /// The number of retries that a window allows at a second, of a number of attempts.
    private func retries(_ window: inout RetryWindow, of attempts: Int = 100, at second: Int64) -> Int {
        var count = 0
        for _ in 0..<attempts where window.takeRetry(at: second) { count += 1 }
        return count
    }

    @Test func aTenthOfTheRequestsMayBeRetried() {
        var window = RetryWindow(RetryBudget(share: 0.1, minimumPerSecond: 0))
        var allowed = [retries(&window, at: 0)]
        for _ in 0..<30 { window.begin(at: 1) }
        allowed.append(retries(&window, at: 2))
        #expect(allowed == [0, 3])
    }

    @Test func theMinimumIsForEachSecondOfTheWindow() {
        var window = RetryWindow(RetryBudget(share: 0, minimumPerSecond: 2))
        // The retries of the hundredth second count until ten seconds have passed.
        let allowed = [100, 109, 110].map { retries(&window, at: $0) }
        #expect(allowed == [20, 0, 20])
    }

    @Test func requestsCountForTenSeconds() {
        var window = RetryWindow(RetryBudget(share: 1, minimumPerSecond: 0))
        window.begin(at: 5)
        window.begin(at: 14)
        var allowed = [retries(&window, at: 14)]
        // The request of the fifth second has left the window, in which two retries were made.
        window.begin(at: 15)
        allowed.append(retries(&window, at: 15))
        allowed.append(retries(&window, at: 1000))
        #expect(allowed == [2, 0, 0])
    }

    @Test func hugeValuesAreNoTrouble() {
        var window = RetryWindow(RetryBudget(share: .greatestFiniteMagnitude, minimumPerSecond: .max))
        window.begin(at: .max)
        let allowed = retries(&window, of: 1, at: .max)
        #expect(allowed == 1)
    }

    @Test(arguments: [
        RetryBudget(share: -0.1), RetryBudget(share: .nan), RetryBudget(share: .infinity),
        RetryBudget(minimumPerSecond: -1),
    ])
    func aSessionRefusesAnInvalidBudget(budget: RetryBudget) {
        #expect {
            try HTTPSession { $0.retryBudget = budget }
        } throws: { ($0 as? SessionError)?.code == .invalidConfiguration }
    }

    // MARK: A session

    private static var policy: RetryPolicy {
        var policy = RetryPolicy.limited(to: 3)
        policy.backoff.first = .zero
        return policy
    }

    private struct Always: RequestRetrier {
        func decide(on attempt: RetryPolicy.Attempt) -> RetryPolicy.Decision {
            attempt.number < 4 ? .retry(after: .zero) : .doNotRetry
        }
    }

    /// The number of requests that a server gets that fails all of a hundred.
    private func requests(_ configure: (inout HTTPSession.Configuration) -> Void) async throws -> Int {
        let counted = EventRecorder<Int>()
        try await withMockServer(handler: { _ in
            counted.record(1)
            return .text("overloaded", status: .serviceUnavailable)
        }) { server in
            let session = try HTTPSession(baseURL: server.url("/")) {
                $0.retryBudget = RetryBudget(share: 0.1, minimumPerSecond: 0)
                configure(&$0)
            }
            for _ in 0..<100 {
                let error = await #expect(throws: SessionError.self) { try await session.get("x").data() }
                #expect(error?.code == .unacceptableStatus && error?.head?.status == .serviceUnavailable)
            }
            await session.shutdown(.immediate)
        }
        return counted.events.count
    }

    @Test func aServerThatFailsAllGetsATenthMore() async throws {
        #expect(try await requests { $0.retryPolicy = Self.policy } == 110)
    }

    @Test func retriersAreLimitedToo() async throws {
        #expect(try await requests { $0.retriers = [Always()] } == 110)
    }

    /// Each retry after a failed decoding is a walk through the whole chain.
    @Test func aRetryIsNoRequestOfTheBudget() async throws {
        let stub = StubTransport { _ in .json("{") }
        let session = try makeClient(stub) {
            $0.retryBudget = RetryBudget(share: 1, minimumPerSecond: 0)
            $0.retriers = [Always()]
        }
        let error = await #expect(throws: SessionError.self) { try await session.get("x").value(as: Int.self) }
        #expect(error?.code == .decodingFailed)
        #expect(stub.requests.count == 2)
        await session.shutdown(.immediate)
    }

    @Test func aCallsOwnPolicyIsLimitedToo() async throws {
        try await withMockServer(.status(.serviceUnavailable)) { server in
            let session = try HTTPSession(baseURL: server.url("/")) {
                $0.retryBudget = RetryBudget(share: 0, minimumPerSecond: 0)
            }
            _ = await #expect(throws: SessionError.self) { try await session.get("x").retry(Self.policy).data() }
            #expect(server.recordedRequests.count == 1)
            await session.shutdown(.immediate)
        }
    }

    @Test func withoutABudgetEachRequestIsRetried() async throws {
        let counted = try await requests {
            $0.retryBudget = nil
            $0.retryPolicy = Self.policy
        }
        #expect(counted == 400)
    }
}
