internal import Synchronization

/// Observes whether and how this machine can reach the network.
///
/// ```swift
/// let monitor = try ReachabilityMonitor()
/// print(monitor.status)
/// for await status in monitor.statuses {
///     print(status)
/// }
/// ```
///
/// The monitor reads links, addresses and routes from the kernel (RTNETLINK, RFC 3549) and needs no privileges. The status
/// applies to the network namespace of the thread that creates the monitor. It says whether packets can leave the machine,
/// not whether a server answers: use it to explain a failed request and to decide when to retry, not to decide whether to
/// send a request.
///
/// A monitor uses one thread and four file descriptors, so create one per process and keep a reference to it. It stops
/// when it is deinitialized; ``statuses`` and observations do not keep it alive.
public final class ReachabilityMonitor: Sendable {
    private struct Running: Sendable {
        let thread: MonitoringThread
        let signal: StopSignal
    }

    private let hub: StatusHub
    private let running: Mutex<Running?>

    /// Reads the current status and starts monitoring.
    ///
    /// The kernel answers immediately: the call does not wait for the network.
    ///
    /// - Parameter configure: Changes the default configuration.
    /// - Throws: ``ReachabilityError`` with the code ``ReachabilityError/Code/socketFailed``,
    ///   ``ReachabilityError/Code/queryFailed``, ``ReachabilityError/Code/timeout``,
    ///   ``ReachabilityError/Code/malformedMessage`` or ``ReachabilityError/Code/threadFailed``.
    public init(_ configure: (inout Configuration) -> Void = { _ in }) throws(ReachabilityError) {
        var configuration = Configuration()
        configure(&configuration)
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

    /// The current status, which is never ``ReachabilityStatus/unknown``. After ``stop()`` it is the last status.
    public var status: ReachabilityStatus { hub.status }

    /// The current status, followed by each change, for any number of readers.
    ///
    /// Each iterator is a separate subscription. Only the newest unread status is kept, so a slow reader skips
    /// intermediate ones, and no status is delivered twice in a row. The sequence ends when the monitor stops or is
    /// deinitialized, or when the task is cancelled.
    public var statuses: some AsyncSequence<ReachabilityStatus, Never> & Sendable { StatusSequence(hub: hub) }

    /// Calls a handler with the current status, and then with each change.
    ///
    /// Calls are made one at a time on Swift's global concurrent executor, never on the main thread. A slow handler skips
    /// intermediate statuses. The observation continues until it is cancelled or the monitor stops, even when the returned
    /// value is discarded.
    ///
    /// - Parameter handler: Receives the status.
    /// - Returns: The observation, for cancelling it.
    @discardableResult
    public func observe(_ handler: @escaping @Sendable (ReachabilityStatus) -> Void) -> Observation {
        Observation(StatusSequence(hub: hub), handler)
    }

    /// Stops monitoring: ends the thread, closes the file descriptors, and finishes all sequences and observations.
    ///
    /// All of this has happened when the first call returns. Further calls have no effect.
    public func stop() {
        guard let running = running.withLock({ $0.take() }) else { return }
        running.signal.send()
        running.thread.join()
        hub.finish()
    }
}

extension ReachabilityMonitor {
    /// The settings of a monitor.
    public struct Configuration: Sendable, Hashable {
        /// The time without further changes after which a change is reported.
        ///
        /// Plugging in a cable causes about a dozen changes, of which only the last matters. When changes continue, the
        /// status is updated after ten times this duration. The default is 100 milliseconds. Values are limited to the
        /// range from zero to one hour.
        public var debounce: Duration = .milliseconds(100)

        /// Makes a configuration with the defaults.
        public init() {}
    }
}

extension ReachabilityMonitor {
    /// A handler's registration with a monitor.
    public final class Observation: Sendable {
        private let task: Task<Void, Never>

        init(_ statuses: StatusSequence, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void) {
            task = Task {
                for await status in statuses where !Task.isCancelled { handler(status) }
            }
        }

        /// Ends the observation: later changes are not delivered.
        ///
        /// It does not wait for a call of the handler that is in progress. Further calls have no effect.
        public func cancel() { task.cancel() }
    }
}
