/// The four states of AFNetworkActivityIndicatorManager. Pure: each event returns what to do about the timer.
///
/// Short requests never show the indicator, and a pause between two requests does not make it flicker.
struct NetworkActivityStateMachine {
    enum TimerAction: Equatable {
        case none
        case startActivation
        case startCompletion
        case stop
    }

    private(set) var state = NetworkActivityIndicator.State.notActive
    private(set) var isEnabled: Bool
    private(set) var isBusy = false

    init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    /// Requests run, or none does any more.
    mutating func setBusy(_ busy: Bool) -> TimerAction {
        guard busy != isBusy else { return .none }
        isBusy = busy
        return isEnabled ? follow() : .none
    }

    /// What runs while the indicator is disabled is known when it is enabled.
    mutating func setEnabled(_ enabled: Bool) -> TimerAction {
        guard enabled != isEnabled else { return .none }
        isEnabled = enabled
        guard !enabled else { return follow() }
        state = .notActive
        return .stop
    }

    /// The activation delay has passed.
    mutating func activationDelayPassed() {
        guard state == .delayingStart else { return }
        state = isBusy ? .active : .notActive
    }

    /// The completion delay has passed.
    mutating func completionDelayPassed() {
        guard state == .delayingEnd else { return }
        state = .notActive
    }

    private mutating func follow() -> TimerAction {
        switch (state, isBusy) {
        case (.notActive, true):
            state = .delayingStart
            return .startActivation
        case (.active, false):
            state = .delayingEnd
            return .startCompletion
        case (.delayingEnd, true):
            state = .active
            return .stop
        default:
            // While the start is delayed, the timer decides.
            return .none
        }
    }
}
