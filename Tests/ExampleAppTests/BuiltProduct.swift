import CommandSupport
import Foundation

/// The executable that was built with the tests.
enum BuiltProduct {
    /// The result of a run.
    struct Run: Sendable {
        var status: Int32
        var output: String
        var error: String
    }

    /// The executable is beside the test bundle, which is the first argument or the executable of the process.
    static let exampleApp: URL? = {
        let places = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
        return places.map { URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("ExampleApp") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Runs the app without a terminal, and waits until it ends.
    static func run(_ arguments: [String]) async throws -> Run {
        let run = try await Command.run(
            ["/usr/bin/env", "ASAN_OPTIONS=detect_leaks=0", exampleApp?.path ?? ""] + arguments)
        return Run(status: run.status, output: run.text, error: run.errors)
    }
}
