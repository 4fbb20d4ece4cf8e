import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RetryPolicyTests {
    private static func policy() -> RetryPolicy {
        var policy = RetryPolicy.limited(to: 2)
        policy.backoff.jitter = 0
        return policy
    }

    private func decide(
        _ number: Int = 1, _ method: HTTPRequest.Method = .get, status: Int, fields: HTTPFields = [:]
    ) throws -> RetryPolicy.Decision {
        let head = HTTPResponse(status: .init(code: status), headerFields: fields)
        return Self.policy().decide(
            on: RetryPolicy.Attempt(number: number, request: try makeRequest(method: method), head: head))
    }

    @Test(arguments: [
        (200, false), (204, false), (301, false), (400, false), (401, false), (404, false), (408, true), (425, false),
        (429, true), (500, true), (501, false), (502, true), (503, true), (504, true), (505, false),
    ])
    func statusesThatMayPass(status: Int, isRetried: Bool) throws {
        #expect(try decide(status: status) == (isRetried ? .retry(after: .milliseconds(500)) : .doNotRetry))
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, true), (.head, true), (.put, true), (.delete, true), (.options, true), (.trace, true),
        (.post, false), (.patch, false), (.connect, false),
    ])
    func idempotentMethodsAlone(method: HTTPRequest.Method, isRetried: Bool) throws {
        #expect(try (decide(1, method, status: 503) == .doNotRetry) != isRetried)
    }

    @Test(arguments: [
        (SessionError.Code.connectionFailed, true), (.connectionLost, true), (.nameResolutionFailed, true),
        (.timeout, true), (.cancelled, false), (.trustRefused, false), (.invalidResponse, false), (.shutDown, false),
    ])
    func failuresThatMayPass(code: SessionError.Code, isRetried: Bool) throws {
        let attempt = RetryPolicy.Attempt(number: 1, request: try makeRequest(), error: SessionError(code, "Why."))
        #expect((Self.policy().decide(on: attempt) == .doNotRetry) != isRetried)
    }

    @Test func theTimeoutOfTheWholeRequestIsTheEnd() throws {
        var error = SessionError(.timeout, "Why.")
        error.timeout = .request
        #expect(
            Self.policy().decide(on: RetryPolicy.Attempt(number: 1, request: try makeRequest(), error: error))
                == .doNotRetry)
    }

    @Test func theWaitsGrowUpToAMaximum() {
        var backoff = RetryPolicy.Backoff()
        backoff.jitter = 0
        #expect((1...4).map(backoff.wait) == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(backoff.wait(after: 1000) == .seconds(30))
        #expect(backoff.wait(after: -1) == .milliseconds(500))
        backoff.factor = .infinity
        #expect(backoff.wait(after: 3) == .seconds(30))
        backoff.maximum = .seconds(Int64.max)
        backoff.first = .seconds(Int64.max)
        #expect(backoff.wait(after: 3) > .seconds(1))
        backoff.factor = .nan
        backoff.jitter = .nan
        backoff.first = .seconds(-1)
        #expect(backoff.wait(after: 3) == .zero)
    }

    @Test(arguments: [0.25, 0.5, 1, 7])
    func theRandomPartIsLimited(jitter: Double) {
        var backoff = RetryPolicy.Backoff()
        backoff.jitter = jitter
        let waits = (0..<200).map { _ in backoff.wait(after: 1) }
        let least = Duration.milliseconds(500) * (1 - min(1, jitter))
        #expect(waits.allSatisfy { $0 >= least && $0 <= .milliseconds(500) })
        #expect(Set(waits).count > 1)
    }

    @Test func theLimitIsOfFurtherAttempts() throws {
        #expect(try (1...3).map { try decide($0, status: 503) != .doNotRetry } == [true, true, false])
        let attempt = RetryPolicy.Attempt(
            number: 1, request: try makeRequest(), error: SessionError(.connectionLost, "Why."))
        #expect(RetryPolicy.never.decide(on: attempt) == .doNotRetry)
    }

    @Test(arguments: [
        ("7", RetryPolicy.Decision.retry(after: .seconds(7))), (" 0 ", .retry(after: .milliseconds(500))),
        ("61", .doNotRetry), ("99999999999999999999", .doNotRetry), ("-1", .retry(after: .milliseconds(500))),
        ("soon", .retry(after: .milliseconds(500))), ("", .retry(after: .milliseconds(500))),
        ("Sun, 06 Nov 1994 08:49:47 GMT", .retry(after: .seconds(10))),
        ("Sun, 06 Nov 1994 08:49:36 GMT", .retry(after: .milliseconds(500))),
        ("Sun, 06 Nov 1994 09:49:37 GMT", .doNotRetry),
        // No dates.
        ("Sun 06 Nov 1994 08:49:47 GMT", .retry(after: .milliseconds(500))),
        ("Sun, 6 Nov 1994 09:49:37 GMT", .retry(after: .milliseconds(500))),
        ("Wed, 31 Nov 1994 08:49:37 GMT", .retry(after: .milliseconds(500))),
    ])
    func retryAfterIsObeyedWithinBounds(value: String, expected: RetryPolicy.Decision) throws {
        let fields: HTTPFields = [.retryAfter: value, .date: "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(try decide(status: 503, fields: fields) == expected)
    }
}
