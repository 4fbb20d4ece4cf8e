internal import FoundationEssentials
internal import LinnetTransport

/// Runs an operation, and cancels it at a deadline, with ``SessionError/Code/timeout``. Returns when the operation has
/// ended. The operation heeds cancellation: it waits for user code by `untilCancelled`.
///
/// - Parameter keepsLateValue: Whether a late value of the operation counts, because it has moved a file.
func ending<Value: Sendable>(
    by deadline: Tick, _ url: URL, keepsLateValue: Bool = false,
    _ operation: @escaping @Sendable () async throws(SessionError) -> Value
) async throws(SessionError) -> Value {
    let outcome = await withTaskGroup(of: Result<Value, SessionError>?.self) { group in
        group.addTask { await Result(operation) }
        group.addTask {
            try? await ContinuousClock().sleep(until: deadline.instant)
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        if let first { return first }
        // The timer ended first: at the deadline, or because the caller has cancelled.
        let last = (await group.next() ?? nil) ?? .failure(.cancelled(url))
        // The caller has cancelled.
        guard Tick.now >= deadline else { return last }
        guard let error = last.error else {
            return keepsLateValue ? last : .failure(.timedOut(.request, url))
        }
        // A hook has turned the response into something else.
        guard error.code != .takenByHook else { return last }
        return .failure(error.timedOut(.request, url))
    }
    return try outcome.get()
}

extension Clock<Duration> {
    /// Sleeps until the time is over or the task is cancelled, whatever the clock does.
    ///
    /// The standard library's clocks end a sleep that is cancelled. One of the user's may not, so that a task of its
    /// own waits for it.
    func sleepUntilCancelled(for time: Duration) async throws {
        if self is ContinuousClock || self is SuspendingClock {
            try await sleep(for: time.waitable)
        } else {
            try await untilCancelled { try await self.sleep(for: time.waitable) }
        }
    }
}
