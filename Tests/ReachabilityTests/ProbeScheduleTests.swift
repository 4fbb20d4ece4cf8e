import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(1))) struct ProbeScheduleTests {
    private let start = ContinuousClock.now
    private let wifi = ReachabilityPath(
        interfaceName: "wlan0", kind: .wifi, supportsIPv4: true, supportsIPv6: false, isExpensive: false)
    private let wired = ReachabilityPath(
        interfaceName: "eth0", kind: .ethernet, supportsIPv4: true, supportsIPv6: false, isExpensive: false)

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    @Test func aPathIsProbedOnceWhenItSucceeds() {
        var schedule = ProbeSchedule(interval: .seconds(60))
        #expect(schedule.deadline == nil)
        schedule.note(wifi, at: at(0))
        #expect(schedule.takeDeadline(at: at(0)) == true)
        #expect(schedule.takeDeadline(at: at(0)) == false)
        #expect(schedule.isConfirmed == nil)
        schedule.finish(true, at: at(1))
        #expect(schedule.isConfirmed == true)
        schedule.note(wifi, at: at(2))
        #expect(schedule.deadline == nil)
    }

    @Test func aFailureIsRepeatedAfterTheInterval() {
        var schedule = ProbeSchedule(interval: .seconds(60))
        schedule.note(wifi, at: at(0))
        #expect(schedule.takeDeadline(at: at(0)) == true)
        schedule.finish(false, at: at(5))
        #expect(schedule.isConfirmed == false)
        #expect(schedule.takeDeadline(at: at(59)) == false)
        #expect(schedule.takeDeadline(at: at(60)) == true)
        schedule.finish(true, at: at(61))
        #expect(schedule.isConfirmed == true)
        #expect(schedule.deadline == nil)
    }

    @Test func pathsThatChangeQuicklyDoNotExceedTheRate() {
        var schedule = ProbeSchedule(interval: .seconds(60))
        var starts: [Int] = []
        for second in 0..<300 {
            schedule.note(second.isMultiple(of: 2) ? wifi : wired, at: at(second))
            if schedule.takeDeadline(at: at(second)) {
                starts.append(second)
                schedule.finish(true, at: at(second))
            }
        }
        #expect(starts == [0, 60, 120, 180, 240])
    }

    @Test func theResultOfAnotherPathDoesNotCount() {
        var schedule = ProbeSchedule(interval: .seconds(60))
        schedule.note(wifi, at: at(0))
        #expect(schedule.takeDeadline(at: at(0)) == true)
        schedule.note(wired, at: at(1))
        schedule.finish(true, at: at(2))
        #expect(schedule.isConfirmed == nil)
        #expect(schedule.deadline == at(60))
        schedule.note(nil, at: at(3))
        #expect(schedule.deadline == nil)
    }

    @Test func aProbeThatEndsWithoutAPathLeadsToNoOther() {
        var schedule = ProbeSchedule(interval: .zero)
        schedule.note(wifi, at: at(0))
        #expect(schedule.takeDeadline(at: at(0)) == true)
        schedule.note(nil, at: at(1))
        schedule.finish(false, at: at(2))
        #expect(schedule.deadline == nil)
        #expect(schedule.isConfirmed == nil)
    }
}
