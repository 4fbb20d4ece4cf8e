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
        let process = Process()
        let output = Pipe()
        let error = Pipe()
        process.executableURL = exampleApp
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = error
        // Both pipes hold what the app prints, some kilobytes, so that it ends before anybody reads.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Run(status: process.terminationStatus, output: text(output), error: text(error))
    }

    private static func text(_ pipe: Pipe) -> String {
        String(decoding: (try? pipe.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
    }
}
