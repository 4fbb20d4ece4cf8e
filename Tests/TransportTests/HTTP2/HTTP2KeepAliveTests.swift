import NIOCore
import Testing

@testable import LinnetTransport

@Suite("HTTP/2 keep-alive", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2KeepAliveTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func keepAlive(every interval: Duration? = .seconds(30)) -> HTTP2KeepAlive {
        var options = TransportConfiguration.HTTP2()
        options.keepAlivePing = interval
        options.pingTimeout = .seconds(10)
        var keepAlive = HTTP2KeepAlive(options)
        keepAlive.firstStreamOpened(start)
        return keepAlive
    }

    @Test func silenceCausesAPingAndThenTheEnd() {
        var keepAlive = keepAlive()
        #expect(keepAlive.next(hasStreams: true) == start + .seconds(30))
        let steps = [29, 30, 39, 40].map { keepAlive.check(start + .seconds($0), hasStreams: true) }
        #expect(steps == [.none, .ping, .none, .giveUp])
    }

    @Test func anyReceivedByteAnswersAPing() {
        var keepAlive = keepAlive()
        let first = keepAlive.check(start + .seconds(30), hasStreams: true)
        keepAlive.heard(start + .seconds(35))
        let second = keepAlive.check(start + .seconds(64), hasStreams: true)
        #expect(first == .ping && second == .none)
        #expect(keepAlive.next(hasStreams: true) == start + .seconds(65))
    }

    @Test func anAnswerBringsTheNextPingForward() {
        var keepAlive = keepAlive(every: .seconds(2))
        let early = keepAlive.heard(start + .seconds(1))
        let action = keepAlive.check(start + .seconds(3), hasStreams: true)
        #expect(!early && action == .ping)
        // The timer now waits for the answer.
        #expect(keepAlive.next(hasStreams: true) == start + .seconds(13))
        let answers = [keepAlive.heard(start + .seconds(4)), keepAlive.heard(start + .seconds(4))]
        #expect(answers == [true, false])
        #expect(keepAlive.next(hasStreams: true) == start + .seconds(6))
    }

    @Test func noPingIsSentWithoutStreams() {
        var keepAlive = keepAlive()
        let action = keepAlive.check(start + .seconds(100), hasStreams: false)
        #expect(action == .none && keepAlive.next(hasStreams: false) == nil)
    }

    @Test func aProbeNeedsNoInterval() {
        var keepAlive = keepAlive(every: nil)
        #expect(keepAlive.next(hasStreams: true) == nil)
        let probes = [keepAlive.probe(start), keepAlive.probe(start)]
        let action = keepAlive.check(start + .seconds(10), hasStreams: false)
        #expect(probes == [true, false] && action == .giveUp)
    }

    @Test func aServerThatSendsNothingForASecondIsSilent() {
        var keepAlive = keepAlive()
        #expect(!keepAlive.isSilent(start + .milliseconds(999)))
        #expect(keepAlive.isSilent(start + .seconds(1)))
        keepAlive.heard(start + .seconds(1))
        #expect(!keepAlive.isSilent(start + .seconds(1)))
        // A connection without requests is no silent one.
        keepAlive.firstStreamOpened(start + .seconds(50))
        #expect(!keepAlive.isSilent(start + .seconds(50)))
    }
}
