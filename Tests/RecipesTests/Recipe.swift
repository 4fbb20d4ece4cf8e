import CommandSupport
import FoundationEssentials

/// Runs the built recipes, which are beside the test bundle.
enum Recipe {
    private static let folder: URL? = {
        let places = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
        return places.map { URL(filePath: $0).deletingLastPathComponent() }
            .first { FileManager.default.isExecutableFile(atPath: $0.appending(path: "recipe-event-stream").path) }
    }()

    static let areBuilt = folder != nil

    /// Runs a recipe, and waits until it ends.
    static func run(_ name: String, _ arguments: String..., input: String = "") async throws -> Command {
        let program = folder?.appending(path: "recipe-\(name)").path ?? ""
        return try await Command.run([program] + arguments, input: input)
    }

    /// Calls a function with an empty folder, which is removed afterwards.
    static func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-recipe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }
}
