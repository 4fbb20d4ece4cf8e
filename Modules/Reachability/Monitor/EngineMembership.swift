internal import Synchronization

/// A run of a monitor: its place in an engine.
struct EngineMembership: Sendable {
    private let key: EngineRegistry.Key
    private let engine: NetworkEngine
    private let id: UInt64

    private static let lastID = Atomic<UInt64>(0)

    /// Reads the current status, gives it to the publisher, and joins the engine of the calling thread's network
    /// namespace.
    init(
        of target: MonitorTarget, _ configuration: ReachabilityMonitor.Configuration, _ resolver: HostResolver,
        to publisher: StatusHub, run: UInt64
    ) throws(ReachabilityError) {
        let (kind, status) = try Self.read(target, configuration)
        key = EngineRegistry.Key(namespace: .current, kind: kind)
        engine = try EngineRegistry.join(key)
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        publisher.begin(status, run: run)
        let member = EngineMember(id: id, target, configuration, resolver, publisher: publisher, run: run)
        engine.mailbox.post(.add(member))
    }

    var isPolling: Bool { key.kind != .netlink }

    /// The number of times that the engine's thread has woken up.
    var wakeUps: Int { engine.mailbox.wakeUps.load(ordering: .relaxed) }

    /// Reads the status in the same way as the engine.
    func read(
        _ target: MonitorTarget, _ configuration: ReachabilityMonitor.Configuration
    ) throws(ReachabilityError) -> ReachabilityStatus {
        try Self.read(target, configuration, key.kind)
    }

    /// Ends the run. Call it once.
    func leave() {
        engine.mailbox.post(.remove(id: id))
        EngineRegistry.leave(key)
    }

    /// Reads the status, over netlink if the system has it.
    private static func read(
        _ target: MonitorTarget, _ configuration: ReachabilityMonitor.Configuration
    ) throws(ReachabilityError) -> (SourceKind, ReachabilityStatus) {
        do {
            return (.netlink, try read(target, configuration, .netlink))
        } catch {
            guard let interval = configuration.pollingInterval, error.meansNoNetlink else { throw error }
            let kind = SourceKind.polling(min(max(interval, .milliseconds(100)), .seconds(3600)))
            return (kind, try read(target, configuration, kind))
        }
    }

    private static func read(
        _ target: MonitorTarget, _ configuration: ReachabilityMonitor.Configuration, _ kind: SourceKind
    ) throws(ReachabilityError) -> ReachabilityStatus {
        var source = try kind.makeSource()
        let state = try source.read()
        let host = HostState(target, interval: nil)
        return target.status(StatusEvaluator(state, configuration), &source, host)
    }
}
