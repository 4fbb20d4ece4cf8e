import HTTPTypes
import LinnetSerialization
import LinnetTransport
import Testing

@testable import LinnetSession

@Suite(.timeLimit(.minutes(1)))
struct RetryLinkTests {
    private struct Never: RequestRetrier {
        func decide(on attempt: RetryPolicy.Attempt) -> RetryPolicy.Decision { .doNotRetry }
    }

    private static var policy: RetryPolicy {
        var policy = RetryPolicy(limit: 2)
        policy.backoff.jitter = 0
        return policy
    }

    private func failure(_ code: SessionError.Code) -> SessionError { SessionError(code, "It failed.", url: nil) }

    @Test func aFailureIsRepeatedUpToTheLimit() throws {
        let link = RetryLink(policy: Self.policy, retriers: [])
        var flight = try Flight.test()
        #expect(link.send(&flight).proceeds)
        var failure = failure(.connectionLost)
        for wait in [500, 1000] {
            guard case .retry(_, .milliseconds(wait)) = link.receive(&failure, &flight) else {
                throw Unexpected()
            }
            #expect(link.sendAgain(&flight).proceeds)
        }
        #expect(flight.retries.number == 3)
        #expect(link.receive(&failure, &flight).proceeds)
        // A request that comes from above begins anew.
        #expect(link.send(&flight).proceeds && flight.retries.number == 1)
    }

    @Test func theStatusAndTheMethodDecide() throws {
        let link = RetryLink(policy: Self.policy, retriers: [])
        for (method, status, repeats) in [
            (HTTPRequest.Method.get, HTTPResponse.Status.serviceUnavailable, true), (.get, .notFound, false),
            (.post, .serviceUnavailable, false), (.put, .serviceUnavailable, true),
        ] {
            var flight = try Flight.test("http://a.test/a", method)
            var response = try StreamedResponse.test(status)
            #expect(link.receive(&response, &flight).repeats == repeats)
        }
    }

    @Test func whatIsFinalIsNotRepeated() throws {
        let link = RetryLink(policy: Self.policy, retriers: [Never()])
        var flight = try Flight.test()
        for code in [SessionError.Code.cancelled, .shutDown] {
            var failure = failure(code)
            #expect(link.receive(&failure, &flight).proceeds)
        }
    }

    @Test func thereIsNoWaitBeyondTheDeadline() throws {
        let link = RetryLink(policy: Self.policy, retriers: [])
        var flight = try Flight.test()
        var failure = failure(.connectionLost)
        flight.deadline = .after(.milliseconds(100))
        #expect(link.receive(&failure, &flight).proceeds)
        flight.deadline = .after(.seconds(1000))
        #expect(link.receive(&failure, &flight).repeats)
    }

    @Test func retriersAreAskedFirst() throws {
        let link = RetryLink(policy: Self.policy, retriers: [Never()])
        var flight = try Flight.test()
        var response = try StreamedResponse.test(.unauthorized)
        guard case .retry(let attempt, let retriers, _)? = link.receive(&response, &flight).question else {
            throw Unexpected()
        }
        #expect(attempt.number == 1 && attempt.head?.status == .unauthorized && retriers.count == 1)
        flight.answer = .retry(.doNotRetry)
        #expect(link.receive(&response, &flight).proceeds)
        flight.answer = .retry(.retry(after: .seconds(-1)))
        guard case .retry(_, .zero) = link.receive(&response, &flight) else { throw Unexpected() }
        #expect(!flight.hasAnswer)
    }

    @Test func thePolicyOfTheCallReplacesTheSessions() throws {
        let link = RetryLink(policy: .never, retriers: [])
        var failure = failure(.connectionLost)
        var flight = try Flight.test()
        #expect(link.receive(&failure, &flight).proceeds)
        flight.additions = Boxed(Flight.Additions(retryPolicy: Self.policy))
        #expect(link.receive(&failure, &flight).repeats)
    }

    @Test func theAdaptersAreAskedForEachAttempt() throws {
        struct Adapter: RequestAdapter {
            func adapt(_ request: SessionRequest) -> SessionRequest { request }
        }
        var flight = try Flight.test()
        #expect(AdapterLink(adapters: []).send(&flight).proceeds)
        let link = AdapterLink(adapters: [Adapter()])
        for _ in 1...2 {
            guard case .adapted(let adapters)? = link.send(&flight).question else { throw Unexpected() }
            #expect(adapters.count == 1)
            var adapted = flight.request
            adapted.headerFields[.accept] = "a/b"
            flight.answer = .adapted(adapted)
            #expect(link.send(&flight).request?.headerFields[.accept] == "a/b")
        }
    }
}
