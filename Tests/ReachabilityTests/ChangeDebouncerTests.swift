import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(5))) struct ChangeDebouncerTests {
    private let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start.advanced(by: .milliseconds(milliseconds)) }

    private func timeout(_ debouncer: ChangeDebouncer, _ now: ContinuousClock.Instant) -> Int32 {
        PollTimeout.until(debouncer.deadline, at: now)
    }

    @Test func theDeadlinePassesAfterTheQuietTime() {
        var debouncer = ChangeDebouncer(quietTime: .milliseconds(100))
        #expect(timeout(debouncer, at(0)) == -1)
        debouncer.noticeChange(at: at(0))
        debouncer.noticeChange(at: at(60))
        #expect(timeout(debouncer, at(60)) == 100)
        #expect(debouncer.takeDeadline(at: at(159)) == false)
        #expect(debouncer.takeDeadline(at: at(160)) == true)
        #expect(debouncer.takeDeadline(at: at(1000)) == false)
        #expect(timeout(debouncer, at(1000)) == -1)
    }

    @Test func anEndlessBurstIsLimited() {
        var debouncer = ChangeDebouncer(quietTime: .milliseconds(100))
        var looks: [Int] = []
        for moment in stride(from: 0, through: 2500, by: 50) {
            debouncer.noticeChange(at: at(moment))
            if debouncer.takeDeadline(at: at(moment)) { looks.append(moment) }
        }
        #expect(looks == [1000, 2050])
    }

    @Test func anExpiredBurstIsOverAtOnce() {
        var debouncer = ChangeDebouncer(quietTime: .milliseconds(100))
        debouncer.noticeChange(at: at(0))
        debouncer.expire(at: at(10))
        debouncer.noticeChange(at: at(10))
        #expect(debouncer.takeDeadline(at: at(10)) == true)
    }

    @Test func theTimeoutIsRoundedUpAndNeverNegative() {
        var debouncer = ChangeDebouncer(quietTime: .microseconds(1500))
        debouncer.noticeChange(at: at(0))
        #expect(timeout(debouncer, at(0)) == 2)
        #expect(timeout(debouncer, at(1)) == 1)
        #expect(timeout(debouncer, at(5)) == 0)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func aQuietTimeOfZeroOrLessIsImmediate(quietTime: Duration) {
        var debouncer = ChangeDebouncer(quietTime: quietTime)
        debouncer.noticeChange(at: at(0))
        #expect(timeout(debouncer, at(0)) == 0)
        #expect(debouncer.takeDeadline(at: at(0)) == true)
    }

    @Test func theQuietTimeIsLimitedToOneHour() {
        var debouncer = ChangeDebouncer(quietTime: .seconds(Int64.max))
        debouncer.noticeChange(at: at(0))
        #expect(timeout(debouncer, at(0)) == 3_600_000)
    }
}
