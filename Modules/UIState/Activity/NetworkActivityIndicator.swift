public import LinnetSession
public import Observation

/// The state of a network activity indicator.
///
/// It behaves like AFNetworkActivityIndicatorManager: requests that end within ``activationDelay`` do not show the
/// indicator, and it stays visible for ``completionDelay`` after the last request, so that it does not flicker. The
/// user interface observes ``isVisible``.
///
/// ```swift
/// let indicator = NetworkActivityIndicator(isEnabled: true)
/// indicator.onVisibilityChange = { spinner.isHidden = !$0 }
/// ```
///
/// It counts the requests of every session of the process, or of chosen ones. A request counts while it runs: from its
/// start or resumption until it is suspended or ends for any reason. It counts once, however often it is reported.
@MainActor
@Observable
public final class NetworkActivityIndicator {
    /// A state of the indicator.
    public enum State: Sendable, Hashable {
        /// No request runs, and the indicator is hidden.
        case notActive
        /// Requests run, and the indicator stays hidden during the activation delay.
        case delayingStart
        /// Requests run, and the indicator is visible.
        case active
        /// No request runs, and the indicator stays visible during the completion delay.
        case delayingEnd
    }

    /// The state of the indicator.
    public private(set) var state = State.notActive
    /// The number of running requests, including activities that the program counts.
    public private(set) var activityCount = 0
    /// Whether the indicator can become visible. The default is false. Requests are counted even while it is disabled.
    public var isEnabled: Bool {
        get { machine.isEnabled }
        set { perform(machine.setEnabled(newValue)) }
    }
    /// The time for which requests run before the indicator becomes visible, at most a century. The default is 1
    /// second.
    @ObservationIgnored public var activationDelay: Duration = .seconds(1)
    /// The time for which the indicator stays visible after the last request, at most a century. The default is 0.17
    /// seconds.
    @ObservationIgnored public var completionDelay: Duration = .milliseconds(170)
    /// Called on the main actor with the new value when ``isVisible`` has changed. The default is nil.
    @ObservationIgnored public var onVisibilityChange: ((Bool) -> Void)?

    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private let changes: ActivityChanges
    @ObservationIgnored private let latest = LatestValue(State.notActive)
    @ObservationIgnored private var followed: [FollowedSession] = []
    @ObservationIgnored private var lastSource: UInt64 = 0
    /// The observation of all sessions; nil if sessions were chosen.
    @ObservationIgnored private var everySession: SessionObservation?
    private var machine: NetworkActivityStateMachine
    @ObservationIgnored private var counter = ActivityCounter()
    @ObservationIgnored private var timer: Task<Void, Never>?
    @ObservationIgnored private var listener: Task<Void, Never>?

    /// Creates an indicator that is hidden.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether the indicator can become visible. The default is false.
    ///   - sessions: The sessions whose requests count; more can be added with ``follow(_:)``. The default, nil, is
    ///     every session of the process. A request that already runs then counts only after it is suspended and
    ///     resumed.
    ///   - clock: The clock that measures the delays. The default is the continuous clock.
    public init(
        isEnabled: Bool = false, following sessions: [HTTPSession]? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.clock = clock
        machine = NetworkActivityStateMachine(isEnabled: isEnabled)
        let changes = ActivityChanges()
        self.changes = changes
        listener = Task { [weak self] in
            for await change in changes.stream { self?.apply(change) }
        }
        if let sessions {
            for session in sessions { follow(session) }
        } else {
            let source = nextSource()
            everySession = TaskNotifications.observe(on: .custom { $0() }) {
                changes.send(ActivityChange($0, source: source))
            }
        }
    }

    isolated deinit {
        listener?.cancel()
        timer?.cancel()
        everySession?.cancel()
        for session in followed { session.observation.cancel() }
        changes.finish()
    }

    /// Whether to show the indicator.
    public var isVisible: Bool { state == .active || state == .delayingEnd }

    /// The state, now and after each change; a slow reader misses intermediate states. Ends when the indicator is
    /// released.
    public var states: AsyncStream<State> { latest.stream }

    /// Counts the requests of a session, which is not retained. An indicator can follow several sessions. The call has
    /// no effect on an indicator that counts every session.
    ///
    /// Handles that already run count at once; requests without a handle count if they start later.
    public func follow(_ session: HTTPSession) {
        followed.removeAll { $0.session == nil }
        guard everySession == nil, !followed.contains(where: { $0.session === session }) else { return }
        let source = nextSource()
        let observation = session.onEvent { [changes] event in
            if let change = ActivityChange(event, source: source) { changes.send(change) }
        }
        followed.append(FollowedSession(session: session, source: source, observation: observation))
        for task in session.tasks { changes.send(.known(WeakTask(task), source: source)) }
    }

    /// Ends ``follow(_:)``: the requests of the session no longer count, not even running ones.
    public func unfollow(_ session: HTTPSession) {
        guard let index = followed.firstIndex(where: { $0.session === session }) else { return }
        let ended = followed.remove(at: index)
        ended.observation.cancel()
        changes.send(.unfollow(source: ended.source))
    }

    private func nextSource() -> UInt64 {
        lastSource += 1
        changes.send(.follow(source: lastSource))
        return lastSource
    }

    /// Counts an activity besides the requests of followed sessions. It can be called from any thread.
    public nonisolated func incrementActivityCount() {
        changes.send(.increment)
    }

    /// Ends an activity of ``incrementActivityCount()``. It can be called from any thread. The count does not go below
    /// zero.
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
            guard (try? await clock.sleep(for: delay.waitable)) != nil, !Task.isCancelled, let self else { return }
            event(&machine)
            publish()
        }
    }

    private func publish() {
        guard state != machine.state else { return }
        let wasVisible = isVisible
        state = machine.state
        latest.send(state)
        if isVisible != wasVisible { onVisibilityChange?(isVisible) }
    }
}

/// A session that an indicator follows, without retaining it.
private struct FollowedSession {
    weak let session: HTTPSession?
    let source: UInt64
    let observation: SessionObservation
}
