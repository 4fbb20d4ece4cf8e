internal import FoundationEssentials
internal import LinnetAuthentication
internal import LinnetSerialization
internal import LinnetTransport

extension SessionRequest {
    /// The hash of the body for Digest with auth-int; nil if there is no body.
    ///
    /// - Parameter algorithm: The algorithm of the challenge.
    /// - Throws: A `SessionError` with ``SessionError/Code/requestBodyFailed`` when the body can be read only once: it
    ///   is read for its hash, and again when it is sent.
    func bodyHash(_ algorithm: DigestAlgorithm) async throws(SessionError) -> String? {
        guard let body else { return nil }
        guard body.isReplayable else {
            throw SessionError(
                .requestBodyFailed,
                "The server requires Digest with auth-int, but the body cannot be read before it is sent: "
                    + (body.replayObstacle ?? "its stream can be read only once") + ".", url: url)
        }
        do {
            return try await untilCancelled {
                guard let hasher = DigestHasher(algorithm) else { return nil }
                var reader = try body.makeReader(readingFilesOn: FileThreads(FileExecutor.shared))
                while let chunk = try await reader.next() {
                    try Task.checkCancellation()
                    chunk.withUnsafeBytes { hasher.update($0) }
                }
                return hasher.finish()
            }
        } catch {
            throw SessionError(readingBody: error, url: url)
        }
    }
}

extension SessionError {
    /// Creates the session error for an error of a body's reader.
    fileprivate init(readingBody error: any Error, url: URL?) {
        self.init(thrown: error, url: url)
        guard code == .interceptorFailed, !(error is SessionError) else { return }
        code = .requestBodyFailed
        message = "The body failed to produce its bytes: \(Self.cause(error))"
    }
}
