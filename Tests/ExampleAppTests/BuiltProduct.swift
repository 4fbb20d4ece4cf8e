import CommandSupport

/// The executable that was built with the tests.
enum BuiltProduct {
    /// The result of a run.
    struct Run: Sendable {
        var status: Int32
        var output: String
        var error: String
    }

    static let exampleApp = BuiltProgram("ExampleApp")

    /// Runs the app without a terminal, and waits until it ends.
    static func run(_ arguments: [String]) async throws -> Run {
        let run = try await exampleApp.run(arguments)
        return Run(status: run.status, output: run.text, error: run.errors)
    }
}
