/// Measures requests per second with workers that each send requests sequentially. The beginning is not counted.
///
/// The workers are distributed over `executors`; without executors they run on the default executor.
package func measureRate(
    _ arguments: Arguments, executors: [any TaskExecutor] = [], _ request: @escaping @Sendable () async throws -> Void
) async throws -> Outcome {
    try await measureRate(arguments, executors: executors, connections: (0..<arguments.concurrency).map { _ in () }) {
        try await request()
    }
}

/// The same with a connection for each worker.
package func measureRate<Connection: Sendable>(
    _ arguments: Arguments, executors: [any TaskExecutor] = [], connections: [Connection],
    _ request: @escaping @Sendable (Connection) async throws -> Void
) async throws -> Outcome {
    let begin = now() + min(0.4, arguments.seconds / 4)
    let end = begin + arguments.seconds
    let total = try await withThrowingTaskGroup(of: Int.self) { group in
        for (worker, connection) in connections.enumerated() {
            group.addTask(executorPreference: executors.isEmpty ? nil : executors[worker % executors.count]) {
                var count = 0
                while true {
                    try await request(connection)
                    let time = now()
                    if time >= end { return count }
                    if time >= begin { count += 1 }
                }
            }
        }
        return try await group.reduce(0, +)
    }
    return Outcome(Double(total) / arguments.seconds, "requests/s", count: total)
}

/// Measures bytes per second with sequential bodies until the time is over. `prepare` opens the connection.
package func measureThroughput(
    _ arguments: Arguments, prepare: () async throws -> Void, _ transfer: () async throws -> Void
) async throws -> Outcome {
    try await prepare()
    ProcessStatus.resetPeak()
    let idle = ProcessStatus.kibibytes("VmRSS")
    let begin = now()
    var count = 0
    repeat {
        try await transfer()
        count += 1
    } while now() - begin < arguments.seconds
    let rate = Double(count * arguments.bytes) / (now() - begin)
    return Outcome(rate, "bytes/s", count: count, peak: max(0, ProcessStatus.kibibytes("VmHWM") - idle))
}

/// Measures the memory of an idle connection in kibibytes. It sends as many concurrent requests as there are
/// connections; the server delays the responses, so that each request needs its own connection. They have been idle for
/// three seconds then.
package func measureIdleConnections(
    _ arguments: Arguments, _ request: @escaping @Sendable () async throws -> Void
) async throws -> Outcome {
    try await request()
    let before = ProcessStatus.kibibytes("VmRSS")
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<arguments.concurrency { group.addTask { try await request() } }
        try await group.waitForAll()
    }
    try await Task.sleep(nanoseconds: 3_000_000_000)
    let open = ProcessStatus.sockets()
    guard open >= arguments.concurrency * 99 / 100 else {
        throw Failure("only \(open) of \(arguments.concurrency) connections are open")
    }
    let grown = ProcessStatus.kibibytes("VmRSS") - before
    return Outcome(Double(grown) / Double(arguments.concurrency), "KiB", count: open)
}

/// Measures the memory of a waiting request in kibibytes, with many more requests than connections. They are cancelled.
package func measureWaitingRequests(
    _ arguments: Arguments, _ request: @escaping @Sendable () async throws -> Void
) async throws -> Outcome {
    try await request()
    let before = ProcessStatus.kibibytes("VmRSS")
    let grown = try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<arguments.concurrency { group.addTask { try await request() } }
        try await Task.sleep(nanoseconds: UInt64(arguments.seconds * 1e9))
        let grown = ProcessStatus.kibibytes("VmRSS") - before
        group.cancelAll()
        while await group.nextResult() != nil {}
        return grown
    }
    return Outcome(Double(grown) / Double(arguments.concurrency), "KiB", count: arguments.concurrency)
}

/// A value that is kept and not used.
// SAFETY: nothing reads the value.
package struct Held: @unchecked Sendable {
    private let value: Any
    package init(_ value: Any) { self.value = value }
}

/// Measures the memory in kibibytes that many large bodies take whose readers stop after the first bytes. `open` starts
/// one and returns what keeps it open.
package func measureUnreadBodies(
    _ arguments: Arguments, prepare: () async throws -> Void, _ open: @escaping @Sendable () async throws -> Held
) async throws -> Outcome {
    try await prepare()
    let before = ProcessStatus.kibibytes("VmRSS")
    let bodies = try await withThrowingTaskGroup(of: Held.self) { group in
        for _ in 0..<arguments.concurrency { group.addTask { try await open() } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
    try await Task.sleep(nanoseconds: UInt64(arguments.seconds * 1e9))
    let grown = ProcessStatus.kibibytes("VmRSS") - before
    return withExtendedLifetime(bodies) { Outcome(Double(max(1, grown)), "KiB", count: bodies.count) }
}

/// Measures the time of an operation in microseconds, averaged over many runs. The time is checked after every `runs`
/// of them.
package func measureMicroseconds(
    _ arguments: Arguments, runs: Int = 20, _ operation: () async throws -> Void
) async throws -> Outcome {
    for _ in 0..<runs { try await operation() }
    let begin = now()
    var count = 0
    while now() - begin < arguments.seconds {
        for _ in 0..<runs { try await operation() }
        count += runs
    }
    return Outcome((now() - begin) * 1e6 / Double(count), "µs", count: count)
}
