internal import LinnetCache
internal import LinnetTransport

/// Runs a blocking operation on the threads for files.
@concurrent
func onFileThreads<Value: Sendable>(
    _ body: @Sendable () async throws(CacheError) -> Value
) async throws(CacheError) -> Value {
    try await withTaskExecutorPreference(FileExecutor.shared, operation: body)
}
