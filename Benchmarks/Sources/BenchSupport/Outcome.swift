import Glibc

/// The result of a benchmark program, which it prints as one line of JSON.
package struct Outcome: Sendable {
    /// The value in the unit of the operation: operations or bytes per second, or kibibytes.
    package var value: Double
    package var unit: String
    /// The number of operations that were performed and checked.
    package var count: Int
    /// The peak memory above idle in kibibytes.
    package var peak: Int?
    /// The latencies of requests under an open load, and the number of requests that failed.
    package var percentiles: Percentiles?
    package var errors = 0

    package init(_ value: Double, _ unit: String, count: Int, peak: Int? = nil) {
        self.value = value
        self.unit = unit
        self.count = count
        self.peak = peak
    }

    var line: String {
        var line = "{\"value\": \(value), \"unit\": \"\(unit)\", \"count\": \(count)"
        if let peak { line += ", \"peak\": \(peak)" }
        if let percentiles { line += ", \"errors\": \(errors), \(percentiles.json)" }
        return line + "}"
    }
}

/// Runs a benchmark program: prints its result, or prints the failure and exits with status 1.
///
/// The main function is not async, because Dispatch ends the main thread of an async main function, and valgrind then
/// crashes.
///
/// - Parameter wait: What the main thread does meanwhile, again and again.
package func runBenchmark(
    waiting wait: () -> Void = { pause() }, _ body: @escaping @Sendable (Arguments) async throws -> Outcome
) -> Never {
    guard let arguments = Arguments(CommandLine.arguments) else {
        fail("usage: OPERATION URL CONCURRENCY SECONDS [NAME=VALUE ...]", 64)
    }
    Task {
        do {
            let outcome = try await body(arguments)
            guard outcome.count > 0 else { throw Failure("no operation was completed in the given time") }
            print(outcome.line)
            exit(0)
        } catch {
            fail("\(error)", 1)
        }
    }
    while true { wait() }
}

private func fail(_ message: String, _ status: Int32) -> Never {
    // `stderr` is a global variable of C, which is not concurrency-safe in Swift 6.
    let line = message + "\n"
    _ = line.withCString { write(2, $0, strlen($0)) }
    exit(status)
}
