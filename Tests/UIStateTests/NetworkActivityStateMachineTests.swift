import Testing

@testable import LinnetUIState

@Suite("Activity indicator, as a state machine", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct NetworkActivityStateMachineTests {
    private func expect(
        _ action: NetworkActivityStateMachine.TimerAction, _ expected: NetworkActivityStateMachine.TimerAction,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(action == expected, sourceLocation: sourceLocation)
    }

    @Test func aLongActivityIsShownAndHidden() {
        var machine = NetworkActivityStateMachine(isEnabled: true)
        expect(machine.setBusy(true), .startActivation)
        #expect(machine.state == .delayingStart)
        machine.activationDelayPassed()
        #expect(machine.state == .active)
        expect(machine.setBusy(false), .startCompletion)
        #expect(machine.state == .delayingEnd)
        machine.completionDelayPassed()
        #expect(machine.state == .notActive)
    }

    @Test func aShortActivityIsNeverShown() {
        var machine = NetworkActivityStateMachine(isEnabled: true)
        expect(machine.setBusy(true), .startActivation)
        expect(machine.setBusy(false), .none)
        #expect(machine.state == .delayingStart)
        machine.activationDelayPassed()
        #expect(machine.state == .notActive)
    }

    @Test func aPauseDoesNotFlicker() {
        var machine = NetworkActivityStateMachine(isEnabled: true)
        _ = machine.setBusy(true)
        machine.activationDelayPassed()
        expect(machine.setBusy(false), .startCompletion)
        expect(machine.setBusy(true), .stop)
        #expect(machine.state == .active)
        machine.completionDelayPassed()
        #expect(machine.state == .active)
    }

    @Test func disablingForcesNotActive() {
        var machine = NetworkActivityStateMachine(isEnabled: true)
        _ = machine.setBusy(true)
        machine.activationDelayPassed()
        expect(machine.setEnabled(false), .stop)
        #expect(machine.state == .notActive)
        expect(machine.setBusy(false), .none)
    }

    @Test func activityWhileDisabledIsShownOnceEnabled() {
        var machine = NetworkActivityStateMachine(isEnabled: false)
        expect(machine.setBusy(true), .none)
        #expect(machine.state == .notActive)
        expect(machine.setEnabled(true), .startActivation)
        #expect(machine.state == .delayingStart)
    }

    @Test func lateTimersHaveNoEffect() {
        var machine = NetworkActivityStateMachine(isEnabled: true)
        machine.activationDelayPassed()
        machine.completionDelayPassed()
        #expect(machine.state == .notActive)
        _ = machine.setBusy(true)
        machine.activationDelayPassed()
        _ = machine.setBusy(false)
        machine.activationDelayPassed()
        #expect(machine.state == .delayingEnd)
    }

    /// A change of the number of requests at a time, in milliseconds.
    struct Change: Sendable {
        let time: Int
        let difference: Int

        static func start(_ time: Int) -> Change { Change(time: time, difference: 1) }
        static func end(_ time: Int) -> Change { Change(time: time, difference: -1) }
    }

    /// The times at which AFNetworkActivityIndicatorManager shows and hides the indicator, in turn.
    @Test(
        arguments: [
            ("a short request", [.start(0), .end(500)], []),
            ("a long request", [.start(0), .end(1500)], [1000, 1670]),
            ("two that overlap", [.start(0), .start(500), .end(1200), .end(2000)], [1000, 2170]),
            ("the second carries on from the first", [.start(0), .start(900), .end(950), .end(1100)], [1000, 1270]),
            (
                "two short ones with a pause, within the delay", [.start(0), .end(300), .start(800), .end(1300)],
                [1000, 1470]
            ),
            ("two short ones, the second ends before the delay", [.start(0), .end(300), .start(600), .end(900)], []),
            (
                "a pause shorter than the completion delay", [.start(0), .end(1100), .start(1200), .end(2000)],
                [1000, 2170]
            ),
            ("a longer pause", [.start(0), .end(1100), .start(1300), .end(2600)], [1000, 1270, 2300, 2770]),
        ] as [(String, [Change], [Int])])
    func theDelaysEqualAFNetworkings(_ row: (name: String, changes: [Change], switches: [Int])) {
        var machine = NetworkActivityStateMachine(isEnabled: true)
        var timer: (time: Int, isActivation: Bool)?
        var (count, isVisible, switches) = (0, false, [Int]())

        func note(_ time: Int) {
            let isNowVisible = machine.state == .active || machine.state == .delayingEnd
            if isNowVisible != isVisible { switches.append(time) }
            isVisible = isNowVisible
        }
        func fire(before time: Int) {
            while let due = timer, due.time < time {
                timer = nil
                if due.isActivation { machine.activationDelayPassed() } else { machine.completionDelayPassed() }
                note(due.time)
            }
        }
        for change in row.changes {
            fire(before: change.time)
            count += change.difference
            switch machine.setBusy(count > 0) {
            case .none: break
            case .startActivation: timer = (change.time + 1000, true)
            case .startCompletion: timer = (change.time + 170, false)
            case .stop: timer = nil
            }
            note(change.time)
        }
        fire(before: .max)
        #expect(switches == row.switches, "\(row.name)")
    }
}
