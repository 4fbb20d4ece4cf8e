public import LinnetSession
public import Observation

/// Whether a user should see that the network is at work.
///
/// AFNetworkActivityIndicatorManager's behaviour: requests that are over within ``activationDelay`` never show, and the
/// indicator stays for ``completionDelay`` after the last one, so that it does not flicker. Whatever draws observes
/// ``isVisible``.
///
/// ```swift
/// let indicator = NetworkActivityIndicator(isEnabled: true)
/// indicator.follow(session)
/// ```
///
/// A request counts once from its start to its end, however often it is suspended in between.
@MainActor
@Observable
public final class NetworkActivityIndicator {
    /// Where the indicator stands.
    public enum State: Sendable, Hashable {
        /// Nothing to show.
        case notActive
        /// Requests run, but not long enough to show.
        case delayingStart
        /// Requests run, and are shown.
        case active
        /// No request runs any more, but that is not shown yet.
        case delayingEnd
    }

    /// Where the indicator stands.
    public private(set) var state = State.notActive
    /// How many requests run, those counted by hand included.
    public private(set) var activityCount = 0
    /// Whether the indicator shows anything. The default is false. Requests are counted all the same.
    public var isEnabled: Bool {
        get { machine.isEnabled }
        set { perform(machine.setEnabled(newValue)) }
    }
    /// How long requests run before they show. The default is 1 second.
    @ObservationIgnored public var activationDelay: Duration = .seconds(1)
    /// How long the indicator stays after the last request. The default is 0.17 seconds.
    @ObservationIgnored public var completionDelay: Duration = .milliseconds(170)
    /// Called on the main actor when ``isVisible`` has changed. The default is none.
    @ObservationIgnored public var onVisibilityChange: ((Bool) -> Void)?

    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private let changes: ActivityChanges
    private var machine: NetworkActivityStateMachine
    @ObservationIgnored private var counter = ActivityCounter()
    @ObservationIgnored private var timer: Task<Void, Never>?
    @ObservationIgnored private var listener: Task<Void, Never>?

    /// Makes an indicator that shows nothing until it is enabled and something runs.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether it shows anything. The default is false.
    ///   - clock: Measures the delays. The default is the continuous clock.
    public init(isEnabled: Bool = false, clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        machine = NetworkActivityStateMachine(isEnabled: isEnabled)
        let changes = ActivityChanges()
        self.changes = changes
        listener = Task { [weak self] in
            for await change in changes.stream { self?.apply(change) }
        }
    }

    isolated deinit {
        listener?.cancel()
        timer?.cancel()
        changes.finish()
    }

    /// Whether the user should see that the network is at work.
    public var isVisible: Bool { state == .active || state == .delayingEnd }

    /// Counts the requests of a session from now on. An indicator can follow several.
    ///
    /// Dropping the observation changes nothing; cancelling it ends the counting.
    @discardableResult
    public func follow(_ session: Session) -> SessionObservation {
        session.onEvent { [changes] event in changes.send(.task(event)) }
    }

    /// Counts an activity by hand. It may be called from any thread.
    public nonisolated func incrementActivityCount() {
        changes.send(.increment)
    }

    /// Ends an activity that was counted by hand. It may be called from any thread; the count does not go below zero.
    public nonisolated func decrementActivityCount() {
        changes.send(.decrement)
    }

    private func apply(_ change: ActivityChange) {
        counter.apply(change)
        if activityCount != counter.count { activityCount = counter.count }
        perform(machine.setBusy(counter.count > 0))
    }

    private func perform(_ action: NetworkActivityStateMachine.TimerAction) {
        switch action {
        case .none:
            break
        case .startActivation:
            start(activationDelay) { $0.activationDelayPassed() }
        case .startCompletion:
            start(completionDelay) { $0.completionDelayPassed() }
        case .stop:
            timer?.cancel()
            timer = nil
        }
        publish()
    }

    private func start(_ delay: Duration, then event: @escaping (inout NetworkActivityStateMachine) -> Void) {
        timer?.cancel()
        timer = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: delay)) != nil, !Task.isCancelled, let self else { return }
            event(&machine)
            publish()
        }
    }

    private func publish() {
        guard state != machine.state else { return }
        let wasVisible = isVisible
        state = machine.state
        if isVisible != wasVisible { onVisibilityChange?(isVisible) }
    }
}
