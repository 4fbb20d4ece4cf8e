internal import Synchronization

/// Watches whether and how this machine reaches the network.
///
/// ```swift
/// let monitor = try ReachabilityMonitor()
/// print(monitor.status)
/// for await status in monitor.statuses {
///     print(status)
/// }
/// ```
///
/// The monitor reads links, addresses and routes from the kernel (RTNETLINK, RFC 3549) and needs no privilege. The answer
/// is for the network namespace of the thread that makes the monitor. It says that packets can leave the machine, which is
/// no promise that a server answers: do not ask it before a request, use it to explain a failure and to know when to try
/// again.
///
/// Every monitor has a thread and four descriptors, so one for a process is enough. Keep it for as long as its answers are
/// wanted: it stops when it goes, and does not live on in ``statuses`` or in observations.
public final class ReachabilityMonitor: Sendable {
    private struct Running: Sendable {
        let thread: MonitoringThread
        let signal: StopSignal
    }

    private let hub: StatusHub
    private let running: Mutex<Running?>

    /// Reads the current status and starts to watch.
    ///
    /// The kernel answers at once, so the call does not wait for the network.
    ///
    /// Throws ``ReachabilityError`` with ``ReachabilityError/Code/socketFailed``, ``ReachabilityError/Code/queryFailed``,
    /// ``ReachabilityError/Code/timeout``, ``ReachabilityError/Code/malformedMessage`` or
    /// ``ReachabilityError/Code/threadFailed``.
    public convenience init(_ configure: (inout Configuration) -> Void = { _ in }) throws(ReachabilityError) {
        var configuration = Configuration()
        configure(&configuration)
        try self.init(configuration: configuration)
    }

    /// Reads the current status and starts to watch, with a configuration made before.
    public init(configuration: Configuration) throws(ReachabilityError) {
        let watcher = try NetworkWatcher(debounce: configuration.debounce)
        let signal = try StopSignal()
        let hub = StatusHub(status: watcher.status)
        let thread = try MonitoringThread {
            var watcher = watcher
            watcher.run(publishingTo: hub, until: signal)
        }
        self.hub = hub
        running = Mutex(Running(thread: thread, signal: signal))
    }

    deinit { stop() }

    /// The current status, which is never ``ReachabilityStatus/unknown``; after ``stop()``, the last one.
    public var status: ReachabilityStatus { hub.status }

    /// The current status, and then every change of it, for any number of readers.
    public var statuses: ReachabilityStatuses { ReachabilityStatuses(hub: hub) }

    /// Calls the handler with the current status, and then with every change.
    ///
    /// The calls come one after the other, on a thread of Swift's global executor and never on the main one. A handler that
    /// is slow delays only itself, and is called with the newest status next. The observation lasts until it is cancelled or
    /// the monitor stops, also when the returned value is dropped.
    @discardableResult
    public func observe(_ handler: @escaping @Sendable (ReachabilityStatus) -> Void) -> ReachabilityObservation {
        ReachabilityObservation(statuses, handler)
    }

    /// Stops watching: ends the thread, closes the descriptors, and finishes all sequences and observations.
    ///
    /// When the first call returns, all this is done. Any other call does nothing.
    public func stop() {
        guard let running = running.withLock({ $0.take() }) else { return }
        running.signal.send()
        running.thread.join()
        hub.finish()
    }
}
