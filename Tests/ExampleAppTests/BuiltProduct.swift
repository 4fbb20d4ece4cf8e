import CommandSupport
import Foundation

/// The executable that was built with the tests.
enum BuiltProduct {
    /// What a run left behind.
    struct Run: Sendable {
        var status: Int32
        var output: String
        var error: String
    }

    /// It lies beside the test bundle, which is the process's first argument or its executable.
    static let exampleApp: URL? = {
        let places = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
        return places.map { URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("ExampleApp") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Runs it without a terminal, and returns when it has ended.
    static func run(_ arguments: [String]) async throws -> Run {
        let run = try await Command.run(
            ["/usr/bin/env", "ASAN_OPTIONS=detect_leaks=0", exampleApp?.path ?? ""] + arguments)
        return Run(status: run.status, output: run.text, error: run.errors)
    }
}
