/// The threads for a body reader's blocking work on files: threads of an executor, or the caller's.
package struct FileThreads: Sendable {
    /// The caller's thread.
    package static let callers = FileThreads(nil)

    /// The number of bytes per read. Smaller reads would spend more on switching threads than on reading.
    package static let pieceSize = 512 * 1024

    private let executor: (any TaskExecutor)?

    /// The threads of an executor; nil means the caller's.
    package init(_ executor: (any TaskExecutor)?) {
        self.executor = executor
    }

    /// Whether the work runs on an executor.
    package var areOthers: Bool { executor != nil }

    /// Runs blocking work.
    package func run<Value: Sendable>(
        _ body: @Sendable () throws(SerializationError) -> Value
    ) async throws(SerializationError) -> Value {
        guard let executor else { return try body() }
        return try await Self.run(on: executor) { () async throws(SerializationError) in try body() }
    }

    @concurrent
    private static func run<Value: Sendable>(
        on executor: any TaskExecutor, _ body: @Sendable () async throws(SerializationError) -> Value
    ) async throws(SerializationError) -> Value {
        try await withTaskExecutorPreference(executor, operation: body)
    }
}
