import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@testable import LinnetTransport

@Suite("Attempts to connect", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ConnectAttemptTests {
    /// The event loop may end a pause before the thread that starts it goes on.
    @Test func everyPauseEnds() async {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        for _ in 0..<10_000 {
            let attempt = ConnectAttempt()
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                attempt.pause(for: .zero, on: eventLoop) { continuation.resume() }
            }
        }
    }

    @Test func aPauseEndsOnceIfItIsAborted() {
        let loop = EmbeddedEventLoop()
        let ends = Atomic(0)
        let attempt = ConnectAttempt()
        attempt.pause(for: .seconds(1), on: loop) { ends.add(1, ordering: .relaxed) }
        #expect(ends.load(ordering: .relaxed) == 0)
        attempt.abort()
        #expect(ends.load(ordering: .relaxed) == 1)
        loop.advanceTime(by: .seconds(2))
        #expect(ends.load(ordering: .relaxed) == 1)
        attempt.pause(for: .seconds(1), on: loop) { ends.add(1, ordering: .relaxed) }
        #expect(ends.load(ordering: .relaxed) == 2)
    }
}
