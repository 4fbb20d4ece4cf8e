/// The four states of AFNetworkActivityIndicatorManager: a pure state machine whose events return an action for the
/// timer.
///
/// Short requests do not show the indicator, and a short pause between two requests does not hide it.
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

    /// Sets whether any request runs.
    mutating func setBusy(_ busy: Bool) -> TimerAction {
        guard busy != isBusy else { return .none }
        isBusy = busy
        return isEnabled ? follow() : .none
    }

    /// Enables or disables the indicator. Requests that started while it was disabled count once it is enabled.
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
            // The end of the delay decides, so nothing changes before it.
            return .none
        }
    }
}
