import CommandSupport
import FoundationEssentials

/// An executable that was built with the tests.
enum BuiltTool {
    /// The executable is beside the test bundle, which is the first argument or the executable of the process.
    static func path(_ name: String) -> String? {
        let places = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
        return places.map { URL(filePath: $0).deletingLastPathComponent().appending(path: name).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs the tool with additional environment variables, and waits until it ends.
    static func run(_ name: String, _ arguments: [String], environment: [String: String]) async throws -> Command {
        let variables = environment.merging(["ASAN_OPTIONS": "detect_leaks=0"]) { own, _ in own }
        return try await Command.run(
            ["/usr/bin/env"] + variables.map { "\($0.key)=\($0.value)" } + [path(name) ?? name] + arguments)
    }
}
