import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct ManualClockTests {
    @Test func timeStandsStillUntilItIsAdvanced() {
        let clock = ManualClock()
        #expect(clock.now.offset == .zero)
        clock.advance(by: .seconds(3))
        clock.advance(by: .seconds(-1))
        clock.advance(to: .init(offset: .seconds(2)))
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func sleepersWakeAtTheirDeadline() async throws {
        let clock = ManualClock()
        async let first: Void = clock.sleep(for: .seconds(1))
        async let second: Void = clock.sleep(for: .seconds(2))
        try await clock.waitForSleepers(count: 2)
        #expect(clock.nextDeadline?.offset == .seconds(1))
        clock.advance(by: .seconds(1))
        try await first
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        try await second
        #expect(clock.sleepers == 0)
    }

    @Test func aDeadlineInThePastDoesNotSleep() async throws {
        let clock = ManualClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(until: .init(offset: .seconds(-1)))
        #expect(clock.sleepers == 0)
    }

    @Test func cancellationWakesASleeper() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers(count: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleepers == 0)
    }

    @Test func aCancelledTaskDoesNotSleep() async throws {
        let clock = ManualClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func waitingForSleepersCanBeCancelled() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.waitForSleepers(count: 1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func manySleepersAreWokenOnceEach() async throws {
        let clock = ManualClock()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for second in 1...100 {
                group.addTask {
                    try await clock.sleep(for: .seconds(second))
                    return second
                }
            }
            try await clock.waitForSleepers(count: 100)
            clock.advance(by: .seconds(50))
            var woken: Set<Int> = []
            for _ in 0..<50 { if let second = try await group.next() { woken.insert(second) } }
            #expect(woken == Set(1...50))
            #expect(clock.sleepers == 50)
            clock.advance(by: .seconds(50))
            try await group.waitForAll()
        }
    }
}
