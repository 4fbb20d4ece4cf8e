import Testing

@testable import LinnetTransport

@Suite("Use of a connection", .timeLimit(.minutes(1)))
struct ConnectionUseTests {
    @Test func oneThatWasOpenedForARequestIsFresh() {
        var use = ConnectionUse()
        let first = use.begin()
        #expect(!first.isReused && !first.mayBeStale)
    }

    @Test func oneThatHasLainIdleMayBeStale() {
        var use = ConnectionUse()
        use.layAside()
        let first = use.begin()
        #expect(!first.isReused && first.mayBeStale)
    }

    @Test func oneThatHasServedMayBeStaleForTheNext() {
        var use = ConnectionUse()
        let first = use.begin()
        use.responded(in: first.period)
        use.ended()
        let second = use.begin()
        #expect(second.isReused && second.mayBeStale)
    }

    /// Requests that share a fresh connection do not make it stale for each other, not even when one was served.
    @Test func siblingsMakeNoConnectionStale() {
        var use = ConnectionUse()
        let first = use.begin()
        for _ in 0..<31 {
            let sibling = use.begin()
            #expect(sibling.isReused && !sibling.mayBeStale)
        }
        use.responded(in: first.period)
        use.ended()
        expectEqual(use.begin().mayBeStale, false)
    }

    /// All of those that come before the server's first word after an idle time can have crossed its end of the connection.
    @Test func aBurstAfterAnIdleTimeMayBeStaleUntilTheServerAnswers() {
        var use = ConnectionUse()
        let first = use.begin()
        use.responded(in: first.period)
        use.ended()
        let second = use.begin()
        let third = use.begin()
        #expect(second.mayBeStale && third.mayBeStale)
        use.responded(in: second.period)
        expectEqual(use.begin().mayBeStale, false)
    }

    /// The word of an exchange that was over before the idle time says nothing of the time after it.
    @Test func aLateWordDoesNotCountForTheNextTime() {
        var use = ConnectionUse()
        let first = use.begin()
        use.ended()
        expectEqual(use.begin().mayBeStale, true)
        use.responded(in: first.period)
        expectEqual(use.begin().mayBeStale, true)
        #expect(use.hasServed)
    }
}
