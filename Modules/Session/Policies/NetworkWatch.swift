internal import LinnetMessages
internal import LinnetReachability
internal import LinnetTransport
internal import Synchronization

/// A session's source of information about the network.
struct NetworkSource: Sendable {
    /// The current status, which the monitor may not have reported yet.
    let current: @Sendable () -> ReachabilityStatus
    /// The status that the monitor has reported last.
    let reported: @Sendable () -> ReachabilityStatus
    /// The reported status, then each change, until the monitor stops.
    let statuses: @Sendable () -> any AsyncSequence<ReachabilityStatus, Never> & Sendable
}

extension NetworkSource {
    init(_ monitor: ReachabilityMonitor) {
        self.init(
            current: { monitor.currentStatus }, reported: { monitor.status }, statuses: { monitor.statuses })
    }
}

/// Watches the network for one session: it knows the status, makes requests wait for it, and discards connections after
/// a change.
///
/// It ends with its session, or when the monitor stops.
final class NetworkWatch: Sendable {
    /// The end of a wait.
    enum Outcome: Sendable {
        /// The network is available.
        case connected
        case cancelled
        /// The limit was reached.
        case timedOut
        /// The monitor has stopped, so that no change would be seen.
        case unwatched
        /// The session has ended.
        case sessionEnded
    }

    private struct State {
        /// The end of further waits; nil while the network is watched.
        var end: Outcome?
        var waiters = Waiters<Outcome?>()
        var task: Task<Void, Never>?
    }

    private let source: NetworkSource
    private let transport: any Transport
    private let state = Mutex(State())

    init(_ source: NetworkSource, discarding transport: any Transport) {
        self.source = source
        self.transport = transport
        state.withLock { $0.task = watch() }
    }

    private func watch() -> Task<Void, Never> {
        Task { [weak self, transport, source] in
            var path: ReachabilityPath??
            for await status in source.statuses() {
                // A connection over a removed interface, or to an address from another network, is useless.
                if let path, path != status.path { transport.discard([.idleConnections, .resolvedNames]) }
                path = .some(status.path)
                guard let self else { return }
                self.resumeWaiters()
            }
            self?.end(.unwatched)
        }
    }

    /// Watches the network again after the monitor had stopped, in case it was started.
    private func watchAgain() {
        state.withLock { state in
            guard state.end == .unwatched else { return }
            state.end = nil
            // It cannot end before the lock is released.
            state.task = watch()
        }
    }

    deinit { end(.sessionEnded) }

    /// The status that the monitor reported last.
    var status: ReachabilityStatus { source.reported() }

    /// Whether the reported status and the current one both meet a condition.
    func meets(_ condition: (ReachabilityStatus) -> Bool) -> Bool { condition(status) && condition(source.current()) }

    /// Ends all waits, including later ones.
    func end(_ outcome: Outcome = .sessionEnded) {
        let (waiters, task) = state.withLock { state in
            if state.end == nil { state.end = outcome }
            defer { state.task = nil }
            return (state.waiters.takeAll(), state.task)
        }
        task?.cancel()
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    /// Waits until the network meets a condition, at most for a duration.
    func wait(
        until condition: @escaping @Sendable (ReachabilityStatus) -> Bool, for limit: Duration?,
        clock: any Clock<Duration>
    ) async -> Outcome {
        watchAgain()
        guard let limit else { return await wait(until: condition, clock) }
        return await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await self.wait(until: condition, clock) }
            group.addTask {
                try? await clock.sleepUntilCancelled(for: limit)
                return .timedOut
            }
            let first = await group.next() ?? .cancelled
            group.cancelAll()
            // The timer, too, ends when the caller is cancelled.
            return Task.isCancelled ? .cancelled : first
        }
    }

    private func wait(
        until condition: @Sendable (ReachabilityStatus) -> Bool, _ clock: any Clock<Duration>
    ) async -> Outcome {
        while true {
            let outcome = await state.wait(in: { $1(&$0.waiters) }, ifCancelled: { .cancelled }) { state -> Outcome?? in
                if let end = state.end { return .some(end) }
                return condition(source.reported()) ? .some(nil) : .none
            }
            if let outcome { return outcome }
            guard condition(status) else { continue }
            if condition(source.current()) { return .connected }
            // The network was lost just now: the monitor reports that after its burst of changes.
            do {
                try await clock.sleepUntilCancelled(for: .milliseconds(100))
            } catch {
                return .cancelled
            }
        }
    }

    private func resumeWaiters() {
        let waiters = state.withLock { $0.waiters.takeAll() }
        for waiter in waiters { waiter.resume(returning: nil) }
    }
}
