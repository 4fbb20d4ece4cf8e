import Glibc

/// Measures the latencies of requests that begin at given instants, however long the requests before them take.
///
/// The load is open: each request is a task of its own, and their number has no limit. The client has at most as many
/// connections as `concurrency` says, so requests may wait in its queue. A latency counts from the instant at which the
/// request was due, so the time by which one begins late is a part of it (the correction of "coordinated omission").
/// The beginning is not recorded: as many requests as connections at once, and a second at the same rate.
///
/// - Parameter executors: The tasks are distributed over them; without executors they run on the default executor.
package func measureLatencies(
    _ arguments: Arguments, executors: [any TaskExecutor] = [],
    _ request: @escaping @Sendable () async throws -> Void
) async throws -> Outcome {
    let unrecorded = min(1, arguments.seconds / 4)
    let rate = Double(arguments.number("rate", 1000))
    let instants = Schedule(rate: rate, seconds: unrecorded + arguments.seconds).instants
    guard !instants.isEmpty else { throw Failure("no request is due in the given time") }
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<arguments.concurrency { group.addTask { try await request() } }
        try await group.waitForAll()
    }
    let recorder = LatencyRecorder(count: instants.count)
    // The tasks of another load inherit it. Tasks of two priorities would compete for the cores on more threads.
    let priority = Task.currentPriority
    // The ticker starts meanwhile, so that the first request is not late.
    let begin = now() + 0.01
    try Ticker.start(at: instants, after: begin) { index in
        let executor = executors.isEmpty ? nil : executors[index % executors.count]
        Task(executorPreference: executor, priority: priority) {
            var isError = false
            do { try await request() } catch { isError = true }
            let latency = instants[index] < unrecorded ? nil : now() - begin - instants[index]
            recorder.end(latency, isError: isError)
        }
    }
    await recorder.allEnded()
    var outcome = Outcome(Double(instants.count) / (now() - begin), "requests/s", count: instants.count)
    (outcome.percentiles, outcome.errors) = recorder.result
    return outcome
}
