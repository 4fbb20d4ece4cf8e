import CommandSupport
import Foundation

/// The executable that was built with the tests.
enum BuiltTool {
    /// The executable is beside the test bundle, which is the first argument or the executable of the process.
    static let path: String? = {
        let places = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
        return places.map { URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("linnet-pins") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }?.path
    }()

    /// Runs the tool and waits until it ends.
    static func run(_ arguments: [String]) async throws -> Command {
        try await Command.run(["/usr/bin/env", "ASAN_OPTIONS=detect_leaks=0", path ?? ""] + arguments)
    }
}
