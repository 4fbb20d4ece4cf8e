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
        try await body?.hash("The server requires Digest with auth-int", url) { DigestHasher(algorithm) }?.hexadecimal
    }
}

extension HTTPRequestBody {
    /// Reads the body for its hash, before it is read again to be sent. Returns nil if OpenSSL does not provide the
    /// algorithm.
    ///
    /// - Parameters:
    ///   - reason: Why it is read, as the beginning of an error message.
    ///   - url: The URL of the request.
    ///   - makeHasher: Makes the hasher.
    /// - Throws: A `SessionError` with ``SessionError/Code/requestBodyFailed`` when the body can be read only once.
    func hash(
        _ reason: String, _ url: URL, by makeHasher: @escaping @Sendable () -> DigestHasher?
    ) async throws(SessionError) -> [UInt8]? {
        guard isReplayable else {
            throw SessionError(
                .requestBodyFailed,
                "\(reason), but the body cannot be read before it is sent: "
                    + (replayObstacle ?? "its stream can be read only once") + ".", url: url)
        }
        do {
            return try await untilCancelled {
                guard let hasher = makeHasher() else { return nil }
                var reader = try makeReader(readingFilesOn: FileThreads(FileExecutor.shared))
                while let chunk = try await reader.next() {
                    try Task.checkCancellation()
                    chunk.withUnsafeBytes { hasher.update($0) }
                }
                return hasher.finishBytes()
            }
        } catch {
            throw SessionError(readingBody: error, url: url)
        }
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String { LinnetAuthentication.hexadecimal(self) }
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
