/// The state of a monitor on the engine's thread.
struct EngineMember: Sendable {
    let id: UInt64
    let target: MonitorTarget
    let configuration: ReachabilityMonitor.Configuration
    let publisher: StatusHub
    let run: UInt64
    let resolver: HostResolver
    var debouncer: ChangeDebouncer
    var host: HostState?
    var probe: ProbeSchedule?

    init(
        id: UInt64, _ target: MonitorTarget, _ configuration: ReachabilityMonitor.Configuration,
        _ resolver: HostResolver, publisher: StatusHub, run: UInt64
    ) {
        self.id = id
        self.target = target
        self.configuration = configuration
        self.resolver = resolver
        self.publisher = publisher
        self.run = run
        debouncer = ChangeDebouncer(quietTime: configuration.debounce)
        host = HostState(target, interval: configuration.resolutionInterval)
        probe = configuration.probe.map { ProbeSchedule(interval: $0.interval) }
    }

    /// The time when the member is due next; nil if only a change of the network makes it due.
    var deadline: ContinuousClock.Instant? {
        [debouncer.deadline, host?.deadline, probe?.deadline].compactMap { $0 }.min()
    }

    /// Whether a change can affect the member.
    func isAffected(by change: NetworkChange) -> Bool {
        change == .everything || change == .otherRoutes && target != .network
    }
}

extension MonitorTarget {
    /// Derives the status for the target.
    func status(
        _ evaluator: StatusEvaluator, _ source: inout some RouteSource, _ host: HostState?
    ) -> ReachabilityStatus {
        switch self {
        case .network: return evaluator.networkStatus(&source)
        case .address(let destination): return evaluator.status(of: destination, &source)
        case .host:
            switch host?.isResolved {
            case nil: return evaluator.networkStatus(&source)
            case false?: return ReachabilityStatus(obstacle: .notResolved, isResolved: false)
            case true?: return evaluator.status(of: host?.addresses ?? [], isResolved: true, &source)
            }
        }
    }
}

extension StatusEvaluator {
    init(_ state: NetworkState, _ configuration: ReachabilityMonitor.Configuration) {
        self.init(
            state: state, expensiveInterfaces: configuration.expensiveInterfaces,
            constrainedInterfaces: configuration.constrainedInterfaces)
    }
}
