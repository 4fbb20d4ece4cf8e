internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Writes the resume file of a running download: synchronizes the part, digests the bytes that were added to it, and
/// replaces the file.
///
/// The download goes on meanwhile. The resume file describes bytes that are on the disk, so a power failure loses only
/// later ones.
actor PartCheckpoint {
    /// The number of bytes between two suspensions, so that no checkpoint occupies a thread for long.
    private static let pieceSize: Int64 = 8 << 20

    private let path: String
    private let sidecar: FilePlace
    private let digest: PartDigest
    private let makeData: @Sendable (_ size: Int64, _ digest: String) -> ResumeData
    /// The resume data in the file, or of the part that is continued; nil if there is none.
    private(set) var written: ResumeData?

    /// - Parameters:
    ///   - path: The part.
    ///   - sidecar: The resume file.
    ///   - digest: The digest of the part's first bytes.
    ///   - resume: The resume data of a part that is continued. It vouches for the part until the first checkpoint: a
    ///     download that is stopped before that keeps its part.
    ///   - makeData: Makes the resume data for the first bytes of the part.
    init(
        _ path: String, sidecar: FilePlace, digest: PartDigest, continuing resume: ResumeData?,
        _ makeData: @escaping @Sendable (_ size: Int64, _ digest: String) -> ResumeData
    ) {
        self.path = path
        self.sidecar = sidecar
        self.digest = digest
        self.makeData = makeData
        written = resume.map { $0.with(receivedBytes: $0.digestedBytes ?? $0.receivedBytes) }
    }

    /// The number of digested bytes.
    nonisolated var digested: Int64 { digest.count }

    /// Writes the resume file for the first bytes of the part. One call at a time. A cancelled task stops between two
    /// pieces, and leaves the file as it is. Blocks.
    ///
    /// - Parameters:
    ///   - size: The number of bytes.
    ///   - synchronizes: Whether the bytes are synchronized to the disk before.
    func write(upTo size: Int64, synchronizes: Bool = true) async throws(FileFailure) {
        let descriptor = SystemCall.retrying { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else { throw SystemFile.failure(path, "cannot be opened") }
        defer { SystemFile.close(descriptor) }
        while digest.count < size {
            let end = min(size, digest.count + Self.pieceSize)
            if synchronizes { LinuxFile.writeBack(descriptor, digest.count..<end, waiting: true) }
            try digest.add(descriptor, path, upTo: end)
            await Task.yield()
            if Task.isCancelled { return }
        }
        if synchronizes, SystemCall.retrying({ fsync(descriptor) }) != 0 {
            throw SystemFile.failure(path, "cannot be synchronized to the disk")
        }
        if Task.isCancelled { return }
        let data = makeData(digest.count, digest.hexadecimal)
        try SystemFile.replace(sidecar, with: data.encoded())
        written = data
    }
}
