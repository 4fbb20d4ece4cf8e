import Glibc

/// What a benchmark program prints, as one line of JSON.
package struct Outcome: Sendable {
    /// In the operation's unit: operations or bytes a second, or kibibytes.
    package var value: Double
    package var unit: String
    /// How many were done and checked.
    package var count: Int
    /// Kibibytes over idle at the worst moment.
    package var peak: Int?

    package init(_ value: Double, _ unit: String, count: Int, peak: Int? = nil) {
        self.value = value
        self.unit = unit
        self.count = count
        self.peak = peak
    }

    var line: String {
        let peak = self.peak.map { ", \"peak\": \($0)" } ?? ""
        return "{\"value\": \(value), \"unit\": \"\(unit)\", \"count\": \(count)\(peak)}"
    }
}

/// Runs a benchmark program: prints its outcome, or why there is none and ends with 1.
///
/// From a main function that is not async: Dispatch ends the main thread of one that is, which valgrind does not survive.
package func runBenchmark(_ body: @escaping @Sendable (Arguments) async throws -> Outcome) -> Never {
    guard let arguments = Arguments(CommandLine.arguments) else {
        fail("usage: OPERATION URL CONCURRENCY SECONDS [NAME=VALUE ...]", 64)
    }
    Task {
        do {
            let outcome = try await body(arguments)
            guard outcome.count > 0 else { throw Failure("nothing was done in the time given") }
            print(outcome.line)
            exit(0)
        } catch {
            fail("\(error)", 1)
        }
    }
    while true { pause() }
}

private func fail(_ message: String, _ status: Int32) -> Never {
    // `stderr` is a variable of C, which Swift 6 cannot call safe.
    let line = message + "\n"
    _ = line.withCString { write(2, $0, strlen($0)) }
    exit(status)
}
