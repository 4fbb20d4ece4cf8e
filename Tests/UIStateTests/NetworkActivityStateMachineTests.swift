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
    }
}
