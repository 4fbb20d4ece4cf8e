import CommandSupport
import HTTPTypes
import LinnetMessages
import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Repeat policy", .timeLimit(.minutes(1)))
struct RepeatPolicyTests {
    typealias Failure = TransportMetrics.Failure
    private let policy = RepeatPolicy()

    @Test(arguments: [
        (Failure.notConnected, HTTPRequest.Method.post, false, true), (.notSent, .post, false, true),
        (.notProcessed, .post, true, true), (.notProcessed, .post, false, false),
        (.staleConnection, .get, true, true), (.staleConnection, .put, true, true),
        (.staleConnection, .put, false, false), (.staleConnection, .post, true, false),
        (.staleConnection, .patch, true, false), (.other, .get, true, false),
    ])
    func whatMayBeSentAgain(failure: Failure, method: HTTPRequest.Method, isReplayable: Bool, expected: Bool) {
        let head = HTTPRequest(method: method, scheme: "http", authority: "a", path: "/")
        #expect(
            RepeatPolicy.permits(failure, isIdempotent: head.isIdempotent, isReplayable: isReplayable) == expected)
    }

    @Test func anIdempotencyKeyMakesARequestIdempotent() {
        var head = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/")
        #expect(!head.isIdempotent)
        head.headerFields[.idempotencyKey] = "\"1\""
        #expect(head.isIdempotent)
    }

    @Test(arguments: [
        ([Failure.notSent], true), (Array(repeating: .notProcessed, count: 5), true),
        (Array(repeating: .notProcessed, count: 6), false), ([.staleConnection], true),
        ([.staleConnection, .staleConnection], false), ([.staleConnection, .notSent], true),
        ([.notSent, .staleConnection], true), ([.staleConnection, .notSent, .staleConnection], false),
        (Array(repeating: .notConnected, count: 9) + [.notSent], true),
    ])
    func howOftenItIsSentAgain(failures: [Failure], expected: Bool) {
        #expect(policy.sendsAgain(after: failures) == expected)
    }

    /// A server that answers others and retires its connections makes progress.
    @Test(arguments: [(6, 6, true), (6, 1, true), (7, 1, false), (128, 128, true), (129, 129, false), (133, 128, true)])
    func connectionsThatServeOthersHaveACountOfTheirOwn(failures: Int, besideOthers: Int, expected: Bool) {
        let failures = Array(repeating: Failure.notSent, count: failures)
        #expect(policy.sendsAgain(after: failures, besideOthers: besideOthers) == expected)
    }

    @Test func openingAConnectionHasTheSameCount() {
        #expect((1...5).allSatisfy { policy.opensAgain(afterFailures: $0) } && !policy.opensAgain(afterFailures: 6))
    }

    @Test(arguments: [
        (0, 0), (1, 0), (2, 50), (3, 100), (4, 200), (5, 400), (6, 400), (1_000_000, 400),
    ])
    func pausesDoubleUpToTheLongest(count: Int, milliseconds: Int) {
        var random = SplitMix(seed: UInt64(count))
        let full = Duration.milliseconds(milliseconds)
        for _ in 0..<100 {
            let pause = policy.pause(afterUseless: count, using: &random)
            #expect(pause <= full && pause >= full / 2)
        }
        let plain = RepeatPolicy(jitter: 0).pause(afterUseless: count, using: &random)
        #expect(plain == full)
    }

    @Test func pausesDiffer() {
        var random = SplitMix(seed: 1)
        #expect(Set((0..<20).map { _ in policy.pause(afterUseless: 4, using: &random) }).count > 10)
    }

    // MARK: Rows of useless connections

    @Test func aRowEndsWithUseOrWithTime() {
        var useless = UselessConnections<String>()
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        for count in 1...3 {
            useless.add("a", now: start)
            #expect(useless.length("a", now: start) == count)
        }
        #expect(useless.length("b", now: start) == 0)
        #expect(useless.length("a", now: start + .milliseconds(1_999)) == 3)
        #expect(useless.length("a", now: start + .seconds(2)) == 0)
        useless.add("a", now: start + .seconds(2))
        #expect(useless.length("a", now: start + .seconds(2)) == 1)
        useless.forget("a")
        #expect(useless.isEmpty)
    }

    @Test func expiredCountsTakeNoRoom() {
        var useless = UselessConnections<Int>()
        for key in 0..<10_000 {
            // Two hundred of them in any two seconds.
            useless.add(key, now: .uptimeNanoseconds(UInt64(key) * 10_000_000))
        }
        #expect(useless.count <= 800)
    }
}
