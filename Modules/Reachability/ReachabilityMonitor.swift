internal import Synchronization

/// Observes whether and how this machine can reach the network, an address or a host.
///
/// ```swift
/// let monitor = try ReachabilityMonitor()
/// print(monitor.status)
/// for await status in monitor.statuses {
///     print(status)
/// }
/// ```
///
/// The monitor reads links, addresses, routes and policy rules from the kernel (RTNETLINK, RFC 3549) and needs no
/// privileges. The status applies to the network namespace of the thread that starts the monitor. It tells whether
/// packets can leave the machine, not whether a server answers: use it to explain a failed request and to decide when
/// to retry, not to decide whether to send a request.
///
/// All monitors of a process and network namespace share one thread and three file descriptors, which exist while a
/// monitor runs. The thread waits for the kernel, and wakes only when something changes. Keep a reference to a monitor:
/// it stops when it is deinitialized; ``statuses`` and observations do not keep it alive.
public final class ReachabilityMonitor: Sendable {
    let hub = StatusHub(status: .unknown)
    private let target: MonitorTarget
    private let configuration: Configuration
    private let resolver: HostResolver
    private let phase = Mutex(MonitorPhase())

    /// Reads the current status of the network and starts monitoring.
    ///
    /// The network is reachable when a default route of IPv4 or IPv6 can be used. The kernel answers immediately: the
    /// call does not wait for the network.
    ///
    /// - Parameter configure: Changes the default configuration.
    /// - Throws: The errors of ``start()``.
    public convenience init(_ configure: (inout Configuration) -> Void = { _ in }) throws(ReachabilityError) {
        try self.init(.network, resolver: .system, configure)
    }

    /// Reads whether an address is reachable and starts monitoring.
    ///
    /// The kernel's look-up decides, with its policy rules, as for a packet to the address: `ip route get` shows the
    /// same.
    ///
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address, such as `192.0.2.1`, `2001:db8::1` or `fe80::1%eth0`.
    ///   - configure: Changes the default configuration.
    /// - Throws: ``ReachabilityError`` with the code ``ReachabilityError/Code/invalidAddress``, or the errors of
    ///   ``start()``.
    public convenience init(
        address: String, _ configure: (inout Configuration) -> Void = { _ in }
    ) throws(ReachabilityError) {
        guard let destination = NetworkDestination(address) else {
            throw ReachabilityError(.invalidAddress, "“\(address)” is not an IPv4 or IPv6 address")
        }
        try self.init(.address(destination), resolver: .system, configure)
    }

    /// Reads the current status of the network, starts monitoring, and looks up the name of a host.
    ///
    /// The host is reachable when its name has an address to which the kernel has a route. The name is looked up on a
    /// separate thread. Until the end of the first look-up (``ReachabilityStatus/isResolved`` is nil), the monitor has
    /// the status of the network. The look-up is repeated after each change of the network, and at an interval.
    ///
    /// - Parameters:
    ///   - host: The host's name, or its address.
    ///   - port: The port for the look-up.
    ///   - configure: Changes the default configuration.
    /// - Throws: The errors of ``start()``.
    public convenience init(
        host: String, port: UInt16, _ configure: (inout Configuration) -> Void = { _ in }
    ) throws(ReachabilityError) {
        try self.init(.host(host, port: port), resolver: .system, configure)
    }

    init(
        _ target: MonitorTarget, resolver: HostResolver, _ configure: (inout Configuration) -> Void
    ) throws(ReachabilityError) {
        var configuration = Configuration()
        configure(&configuration)
        self.target = target
        self.configuration = configuration
        self.resolver = resolver
        try start()
    }

    deinit { stop() }

    /// The current status, which is never ``ReachabilityStatus/unknown``. After ``stop()`` it is the last status.
    public var status: ReachabilityStatus { hub.status }

    /// The kernel's status at this moment, which may not be reported yet, because changes are collected for the time of
    /// ``Configuration/debounce``; ``status`` if the kernel does not answer, and after ``stop()``.
    ///
    /// The kernel answers for the network namespace of the calling thread. A host's name is not looked up: its status
    /// is ``status`` while the network is reachable.
    package var currentStatus: ReachabilityStatus {
        let membership = phase.withLock { $0.membership }
        guard let current = try? membership?.read(target, configuration) else { return status }
        if case .host = target, current.isReachable { return status }
        return current
    }

    /// Whether a status ends a wait: reachable, with the host's name resolved, and confirmed if there is a probe.
    var isAwaited: @Sendable (ReachabilityStatus) -> Bool {
        var needsName = false
        if case .host = target { needsName = true }
        return { [needsName, needsConfirmation = configuration.probe != nil] status in
            status.isReachable && (!needsName || status.isResolved == true)
                && (!needsConfirmation || status.isConfirmed == true)
        }
    }

    /// Whether the monitor reads the network at an interval, because the system has no netlink
    /// (``Configuration/pollingInterval``). False while it is stopped.
    public var isPolling: Bool { phase.withLock { $0.membership?.isPolling ?? false } }

    /// Starts monitoring again after ``stop()``, and reads the current status before it returns.
    ///
    /// A new monitor runs already. The call has no effect while the monitor runs, or while another thread starts it.
    ///
    /// - Throws: ``ReachabilityError`` with the code ``ReachabilityError/Code/socketFailed``,
    ///   ``ReachabilityError/Code/queryFailed``, ``ReachabilityError/Code/timeout``,
    ///   ``ReachabilityError/Code/malformedMessage`` or ``ReachabilityError/Code/threadFailed``. The monitor remains
    ///   stopped.
    public func start() throws(ReachabilityError) {
        guard let run = phase.withLock({ $0.beginStart() }) else { return }
        let membership: EngineMembership
        do {
            membership = try EngineMembership(
                of: target, configuration, resolver, to: hub, run: run)
        } catch {
            phase.withLock { $0.abandonStart() }
            throw error
        }
        // The monitor was stopped meanwhile.
        guard phase.withLock({ $0.finishStart(membership) }) else { return membership.leave() }
    }

    /// Stops monitoring, and finishes all sequences and observations.
    ///
    /// After the first call has returned, no earlier observation or iterator of ``statuses`` receives a
    /// status: neither the status that was current when it subscribed, nor an unread change, nor a call that waits on a
    /// queue. A handler that was already running may still be running.
    ///
    /// If it was the last monitor of the process, the thread has ended and the file descriptors are closed, except for
    /// a look-up or a probe in progress, which ends on its own. If another thread is in ``start()``, that thread does
    /// this before ``start()`` returns.
    ///
    /// Further calls have no effect, and do not wait for the first one. The call waits neither for handlers nor for a
    /// probe, so any thread can make it at any time, even an observer, and even with a lock that a handler needs.
    public func stop() {
        guard let stopped = phase.withLock({ $0.stop() }) else { return }
        stopped.membership?.leave()
        // Another thread may have started the monitor again, which began another run.
        hub.finish(run: stopped.run)
    }
}

/// Whether a monitor runs: a pure state machine. Calls of `start` and `stop` may come in any order and from any thread.
struct MonitorPhase: Sendable {
    private enum Phase: Sendable {
        case stopped
        case starting
        /// Stopped while it starts.
        case stopping
        case running(EngineMembership)
    }

    /// A run that the caller of `stop` must end.
    struct StoppedRun: Sendable {
        let run: UInt64
        /// The membership to end; nil if the thread that starts the monitor ends it.
        let membership: EngineMembership?
    }

    private var phase = Phase.stopped
    /// The number of the latest run.
    private var run: UInt64 = 0

    var membership: EngineMembership? {
        if case .running(let membership) = phase { membership } else { nil }
    }

    /// Returns the number of the run that the caller must start; nil if there is nothing to start.
    mutating func beginStart() -> UInt64? {
        guard case .stopped = phase else { return nil }
        phase = .starting
        run += 1
        return run
    }

    mutating func abandonStart() { phase = .stopped }

    /// Returns whether the monitor runs now. Otherwise it was stopped, and the caller must end the membership.
    mutating func finishStart(_ membership: EngineMembership) -> Bool {
        guard case .starting = phase else {
            phase = .stopped
            return false
        }
        phase = .running(membership)
        return true
    }

    /// Returns the run that the caller must end; nil if there is none.
    mutating func stop() -> StoppedRun? {
        switch phase {
        case .stopped, .stopping: return nil
        case .starting:
            phase = .stopping
            return StoppedRun(run: run, membership: nil)
        case .running(let membership):
            phase = .stopped
            return StoppedRun(run: run, membership: membership)
        }
    }
}
