internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension StreamedResponse {
    /// Writes the body into a range of an existing file, which is synchronized later.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - range: The range. It has all bytes of the body when the function returns.
    ///   - didWrite: Called after bytes were written, before more are read; returns whether to go on.
    /// - Throws: ``SessionError/Code/fileFailed``; ``SessionError/Code/connectionLost`` for fewer bytes than the range
    ///   has, and ``SessionError/Code/invalidResponse`` for more, of which none is written.
    package func write(
        to path: String, in range: Range<Int64>, didWrite: @Sendable (_ bytes: Int) async -> Bool
    ) async throws(SessionError) {
        try await withTaskExecutorPreference(FileExecutor.shared) { () async throws(SessionError) in
            let file = try open(path, at: range.lowerBound)
            // The file stays when its descriptor is closed.
            defer { file.leave() }
            var chunks = body.makeAsyncIterator()
            while let batch = try await chunks.nextBatch() {
                let count = batch.reduce(0) { $0 + $1.readableBytes }
                guard Int64(count) <= range.upperBound - file.size else { throw wrongLength("more", range) }
                do throws(FileFailure) { try file.write(batch) } catch { throw SessionError(error, url: url) }
                guard await didWrite(count) else { throw .cancelled(url) }
            }
            guard file.size == range.upperBound else { throw wrongLength("fewer", range, .connectionLost) }
        }
    }

    private func open(_ path: String, at offset: Int64) throws(SessionError) -> PartialFile {
        let descriptor = SystemCall.retrying { openFile(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else { throw SessionError(SystemFile.failure(path, "cannot be opened"), url: url) }
        let file = PartialFile(path: path, finalPath: path, descriptor: descriptor, size: offset)
        file.writesBack = true
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
            let failure = SystemFile.failure(path, "cannot be written")
            file.leave()
            throw SessionError(failure, url: url)
        }
        return file
    }

    private func wrongLength(
        _ word: String, _ range: Range<Int64>, _ code: SessionError.Code = .invalidResponse
    ) -> SessionError {
        SessionError(code, "The response's body has \(word) than the \(range.count) bytes of its range.", url: url)
    }
}

private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
