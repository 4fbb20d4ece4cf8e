import Testing

@testable import LinnetTransport

@Suite("Use of a connection", .timeLimit(.minutes(1)))
struct ConnectionUseTests {
    @Test func aConnectionOpenedForARequestIsFresh() {
        var use = ConnectionUse()
        let first = use.begin()
        #expect(!first.isReused && !first.mayBeStale)
    }

    @Test func anIdleConnectionMayBeStale() {
        var use = ConnectionUse()
        use.layAside()
        let first = use.begin()
        #expect(!first.isReused && first.mayBeStale)
    }

    @Test func aConnectionThatHasServedMayBeStaleForTheNextRequest() {
        var use = ConnectionUse()
        let first = use.begin()
        use.responded(in: first.period)
        use.ended()
        let second = use.begin()
        #expect(second.isReused && second.mayBeStale)
    }

    /// Requests that share a fresh connection do not make it stale for each other, even if one was served.
    @Test func concurrentRequestsDoNotMakeAConnectionStale() {
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

    /// Requests before the server's first answer after an idle time may have crossed the end of the connection.
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

    /// An answer to an exchange that ended before the idle time does not show that the connection is still open.
    @Test func anAnswerOfAnEarlierPeriodDoesNotCountForTheNext() {
        var use = ConnectionUse()
        let first = use.begin()
        use.ended()
        expectEqual(use.begin().mayBeStale, true)
        use.responded(in: first.period)
        expectEqual(use.begin().mayBeStale, true)
        #expect(use.hasServed)
    }
}
