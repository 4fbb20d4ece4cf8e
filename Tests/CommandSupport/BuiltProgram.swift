internal import FoundationEssentials

/// An executable of the package that was built with the tests.
public struct BuiltProgram: Sendable {
    private let file: String?

    /// Looks beside the test bundle, which is the first argument or the executable of the process.
    public init(_ name: String) {
        let places = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
        file = places.map { URL(filePath: $0).deletingLastPathComponent().appending(path: name).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether the executable was found.
    public var exists: Bool { file != nil }

    /// Its path; the name of no file if it was not found.
    public var path: String { file ?? "" }

    /// Runs it with additional environment variables, and waits until it ends.
    public func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Command {
        try await Command.run(["/usr/bin/env"] + environment.map { "\($0.key)=\($0.value)" } + [path] + arguments)
    }
}
