import CommandSupport
import Foundation

/// The executable that was built with the tests.
enum BuiltTool {
    /// It lies beside the test bundle, which is the process's first argument or its executable.
    static let path: String? = {
        let places = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
        return places.map { URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("linnet-pins") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }?.path
    }()

    /// Runs it, and returns when it has ended.
    static func run(_ arguments: [String]) async throws -> Command {
        try await Command.run(["/usr/bin/env", "ASAN_OPTIONS=detect_leaks=0", path ?? ""] + arguments)
    }
}
