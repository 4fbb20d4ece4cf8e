internal import FoundationEssentials
internal import LinnetTransport

/// Runs an operation, and cancels it at a deadline, with ``SessionError/Code/timeout``. Returns when the operation has ended, which
/// heeds cancellation: it waits for code of the user's by `untilCancelled`.
///
/// - Parameter keepsLateValue: Whether a value counts that the operation returns in spite of that: it has moved a file.
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
        guard Tick.now >= deadline else { return last }
        guard let error = last.error else {
            return keepsLateValue ? last : .failure(.timedOut(.request, url))
        }
        // A hook has made something else of the response.
        guard error.code != .takenByHook else { return last }
        return .failure(error.timedOut(.request, url))
    }
    return try outcome.get()
}
