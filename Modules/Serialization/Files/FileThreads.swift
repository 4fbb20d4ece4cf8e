/// Where a body's reader does what may block on a file: on an executor for that, or else where it is called.
package struct FileThreads: Sendable {
    /// Where the reader is called: for those who pull a body themselves.
    package static let callers = FileThreads(nil)

    /// As much is read at a time: less, and getting there would cost more than reading.
    package static let pieceSize = 512 * 1024

    private let executor: (any TaskExecutor)?

    /// On an executor.
    package init(_ executor: (any TaskExecutor)?) {
        self.executor = executor
    }

    /// Whether they are not the caller's own.
    package var areOthers: Bool { executor != nil }

    /// Runs what may block.
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
