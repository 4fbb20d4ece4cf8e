public import LinnetSession
public import Observation

/// The state of a network activity indicator.
///
/// It behaves as AFNetworkActivityIndicatorManager does: requests that end within ``activationDelay`` do not show the
/// indicator, and it stays visible for ``completionDelay`` after the last request, so that it does not flicker. The user
/// interface observes ``isVisible``.
///
/// ```swift
/// let indicator = NetworkActivityIndicator(isEnabled: true)
/// indicator.follow(session)
/// ```
///
/// A request counts while it runs: from its start, or from being resumed, until it is suspended or ends.
@MainActor
@Observable
public final class NetworkActivityIndicator {
    /// A state of the indicator.
    public enum State: Sendable, Hashable {
        /// No request runs, and the indicator is hidden.
        case notActive
        /// Requests run, and the indicator is hidden until the activation delay has passed.
        case delayingStart
        /// Requests run, and the indicator is visible.
        case active
        /// No request runs, and the indicator is visible until the completion delay has passed.
        case delayingEnd
    }

    /// The state of the indicator.
    public private(set) var state = State.notActive
    /// The number of running requests, including activities that were counted manually.
    public private(set) var activityCount = 0
    /// Whether the indicator can become visible. The default is false. Requests are counted even while it is disabled.
    public var isEnabled: Bool {
        get { machine.isEnabled }
        set { perform(machine.setEnabled(newValue)) }
    }
    /// The time that requests run before the indicator becomes visible. The default is 1 second.
    @ObservationIgnored public var activationDelay: Duration = .seconds(1)
    /// The time that the indicator stays visible after the last request. The default is 0.17 seconds.
    @ObservationIgnored public var completionDelay: Duration = .milliseconds(170)
    /// Called on the main actor with the new value when ``isVisible`` has changed. The default is nil.
    @ObservationIgnored public var onVisibilityChange: ((Bool) -> Void)?

    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private let changes: ActivityChanges
    private var machine: NetworkActivityStateMachine
    @ObservationIgnored private var counter = ActivityCounter()
    @ObservationIgnored private var timer: Task<Void, Never>?
    @ObservationIgnored private var listener: Task<Void, Never>?

    /// Creates an indicator that is hidden.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether the indicator can become visible. The default is false.
    ///   - clock: The clock that measures the delays. The default is the continuous clock.
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

    /// Whether the indicator is to be shown.
    public var isVisible: Bool { state == .active || state == .delayingEnd }

    /// Counts the requests of a session from now on. An indicator can follow several sessions.
    ///
    /// - Parameter session: The session to follow.
    /// - Returns: The observation, for ending it. It continues when the returned value is discarded.
    @discardableResult
    public func follow(_ session: HTTPSession) -> SessionObservation {
        session.onEvent { [changes] event in changes.send(.task(event)) }
    }

    /// Counts an activity that is not a request of a followed session. It can be called from any thread.
    public nonisolated func incrementActivityCount() {
        changes.send(.increment)
    }

    /// Ends an activity that ``incrementActivityCount()`` counted. It can be called from any thread. The count does not go
    /// below zero.
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
