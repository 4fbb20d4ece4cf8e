public import Dispatch

extension ReachabilityMonitor {
    /// The current status, followed by each change, for any number of readers.
    ///
    /// Each iterator is a separate subscription, which begins when the iterator is made. Only the newest unread status
    /// is kept, so a slow reader skips intermediate ones, and no status is delivered twice in a row. The sequence ends
    /// when the monitor stops or is deinitialized, or when the task is cancelled; an unread status is not delivered
    /// after the monitor stopped. The sequence of a stopped monitor has the last status only.
    public var statuses: some AsyncSequence<ReachabilityStatus, Never> & Sendable { StatusSequence(hub: hub) }

    /// Calls a handler with the current status, and then with each change.
    ///
    /// Calls are made in order and one at a time. A slow handler skips intermediate statuses. The observation continues
    /// until it is cancelled or the monitor stops, even when the returned value is discarded. No call begins after
    /// ``stop()`` has returned, not even the first one. An observation of a monitor that is already stopped receives
    /// the last status only.
    ///
    /// - Parameters:
    ///   - queue: The queue for the calls. Nil, the default, is Swift's global concurrent executor, never the main
    ///     thread.
    ///   - handler: Receives the status.
    /// - Returns: The observation, for cancelling it.
    @discardableResult
    public func observe(
        on queue: DispatchQueue? = nil, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> Observation {
        guard let queue else { return Observation(hub.subscribe(), on: nil, handler) }
        return Observation(hub.subscribe(), on: { call in queue.async { call() } }, handler)
    }

    /// Waits until the network, the address or the host is reachable, and confirmed if there is a probe.
    ///
    /// For a host, the wait includes the look-up of the name.
    ///
    /// ```swift
    /// try await monitor.waitUntilReachable(timeout: .seconds(30))
    /// ```
    ///
    /// - Parameter timeout: The longest time to wait. The default is nil: no limit. Exceeding it is
    ///   ``ReachabilityError/Code/notReachable``.
    /// - Returns: The status that ended the wait: the current one, if it already fulfils the condition.
    /// - Throws: ``ReachabilityError`` with the code ``ReachabilityError/Code/notReachable`` after the timeout,
    ///   ``ReachabilityError/Code/stopped`` when the monitor stops, or ``ReachabilityError/Code/cancelled`` when the
    ///   task is cancelled.
    @discardableResult
    public func waitUntilReachable(timeout: Duration? = nil) async throws(ReachabilityError) -> ReachabilityStatus {
        try await waitUntilReachable(timeout: timeout, clock: .continuous)
    }

    @discardableResult
    func waitUntilReachable(
        timeout: Duration?, clock: some Clock<Duration>
    ) async throws(ReachabilityError) -> ReachabilityStatus {
        let hub = hub
        let isAwaited = isAwaited
        let found = await withTaskGroup(of: WaitOutcome.self) { group in
            group.addTask {
                for await status in StatusSequence(hub: hub) where isAwaited(status) {
                    return .reachable(status)
                }
                return .ended
            }
            if let timeout {
                group.addTask {
                    do {
                        try await clock.sleep(for: min(max(timeout, .zero), .longestWait))
                        return .timedOut
                    } catch {
                        return .ended
                    }
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? .ended
        }
        switch found {
        case .reachable(let status): return status
        case .timedOut:
            // A short timeout can be over before the first status was read.
            if isAwaited(status) { return status }
            throw ReachabilityError(
                .notReachable, "The destination did not become reachable within \(timeout ?? .zero)")
        case .ended where Task.isCancelled:
            throw ReachabilityError(.cancelled, "The wait for the network was cancelled")
        case .ended:
            throw ReachabilityError(.stopped, "The reachability monitor stopped before the destination was reachable")
        }
    }

    /// A handler's registration with a monitor.
    public final class Observation: Sendable {
        /// Enqueues a call.
        typealias Schedule = @Sendable (_ call: @escaping @Sendable () -> Void) -> Void

        /// Makes the calls, and ends after the last one.
        let task: Task<Void, Never>

        /// Delivers the statuses of a subscription, which begins before the task: the monitor may stop before the task
        /// runs.
        ///
        /// - Parameters:
        ///   - subscription: The source of the statuses.
        ///   - schedule: Enqueues the calls; nil makes them in the task.
        ///   - handler: Receives the status.
        init(
            _ subscription: StatusSubscription, on schedule: Schedule?,
            _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
        ) {
            task = Task {
                var statuses = StatusSequence.Iterator(subscription)
                while let status = await statuses.next(), !Task.isCancelled {
                    guard let schedule else {
                        handler(status)
                        continue
                    }
                    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                        schedule {
                            // The monitor may have stopped while the call was enqueued.
                            if !subscription.isOver { handler(status) }
                            continuation.resume()
                        }
                    }
                }
            }
        }

        /// Ends the observation: later changes are not delivered.
        ///
        /// It does not wait for a call of the handler that is in progress or enqueued. Further calls have no effect.
        public func cancel() { task.cancel() }
    }
}

extension Duration {
    /// The longest wait: a hundred years. Clocks end the process when a sleep has more seconds than an `Int64` can
    /// hold.
    fileprivate static let longestWait = Duration.seconds(Int64(100 * 365 * 86_400))
}

private enum WaitOutcome: Sendable {
    case reachable(ReachabilityStatus)
    case timedOut
    case ended
}
