internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

/// Makes the resume data of a download: when the download fails, and at intervals while it runs if there is a resume
/// file.
///
/// A part that is kept only when its handle asks for that is digested then, and all others while they are written: a
/// part of many gigabytes is not read again, and the digest is of the bytes that were received.
struct PartKeeper {
    private enum Digesting {
        case atFailure
        /// All bytes are digested as they are written; for a resume file, if there is one.
        case atOnce(PartDigest, FilePlace?)
        /// Checkpoints digest the bytes; the task is the last one.
        case beside(PartCheckpoint, Task<Void, any Error>?)
    }

    /// The number of bytes that are digested at a failure, which must not take long: the caller that has cancelled the
    /// download waits. More bytes stay without a digest.
    private static let mostAtFailure: Int64 = 64 << 20

    let total: Int64?
    private let interval: Duration
    private let makeData: @Sendable (_ size: Int64, _ digest: String) -> ResumeData
    private var digesting: Digesting
    private var lastWrite: ContinuousClock.Instant?

    /// Returns nil if the download cannot be resumed: its request is not a GET, the response has no strong validator,
    /// the server does not support ranges, or the response has a content coding, decoded or not.
    ///
    /// - Parameters:
    ///   - part: The file of the part.
    ///   - digest: The digest of the part of a resumed download.
    init?(
        _ response: StreamedResponse, answering request: SessionRequest, total: Int64?, options: DownloadOptions,
        part: PartialFile, continuing resume: ResumeData?, digest: PartDigest?
    ) {
        let head = response.head
        let known = resume?.validators ?? ResumeValidators(head)
        // Without a strong validator, nothing would reveal that the rest belongs to another version.
        guard request.method == .get, resume != nil || head.status.code == 200, known.ifRange != nil,
            !head.headerFields.contains(.contentEncoding), response.contentCodings.isEmpty,
            head.headerFields[.acceptRanges]?.lowercased() != "none"
        else { return nil }
        let (url, path) = (request.url.withoutUserInfo, part.path)
        makeData = { size, digest in
            ResumeData(
                url: url, entityTag: known.entityTag, lastModified: known.lastModified,
                partialFile: URL(filePath: path).absoluteURL, receivedBytes: size, totalBytes: total, digest: digest)
        }
        self.total = total
        interval = options.resumeInterval
        let sidecar = options.resumeFile.flatMap { FilePlace($0.path(percentEncoded: false)) }
        guard let sidecar else {
            digesting = options.keepsPart || resume != nil ? .atOnce(digest ?? PartDigest(), nil) : .atFailure
            return
        }
        let digest = digest ?? PartDigest()
        digesting =
            options.makesCheckpoints
            ? .beside(
                PartCheckpoint(path, sidecar: sidecar, digest: digest, continuing: resume, makeData), nil)
            : .atOnce(digest, sidecar)
    }

    /// Accounts for bytes that were written to the part, and writes the resume file at the intended intervals.
    mutating func wrote(_ buffers: some Collection<ByteBuffer>, to part: PartialFile) async throws(FileFailure) {
        if case .atOnce(let digest, let sidecar) = digesting {
            digest.add(buffers)
            if sidecar == nil { return }
        }
        let now = ContinuousClock.now
        if let lastWrite, now - lastWrite < interval { return }
        switch digesting {
        case .atFailure, .atOnce(_, nil): return
        case .atOnce(let digest, let sidecar?):
            // Written after the bytes that it describes, so that it never promises bytes that the part lacks.
            try SystemFile.replace(sidecar, with: makeData(part.size, digest.hexadecimal).encoded())
        case .beside(let checkpoint, let last):
            try await write(checkpoint, after: last, part)
        }
        lastWrite = now
    }

    private mutating func write(
        _ checkpoint: PartCheckpoint, after last: Task<Void, any Error>?, _ part: PartialFile
    ) async throws(FileFailure) {
        let size = part.size
        // The first file is there before the download goes on: without it, nothing would lead to the part.
        guard lastWrite != nil else {
            // A part that is complete already ends before anything could interrupt it.
            if size < total ?? .max { try await checkpoint.write(upTo: size, synchronizes: false) }
            return
        }
        let task = Task(executorPreference: FileExecutor.shared) {
            // A checkpoint that takes longer than the interval delays the next one. Its error is the disk's, which the
            // download will meet itself.
            _ = await last?.result
            try await checkpoint.write(upTo: size)
        }
        digesting = .beside(checkpoint, task)
    }

    /// Ends the checkpoints. No resume file is written afterwards.
    func stop() async {
        guard case .beside(_, let last?) = digesting else { return }
        last.cancel()
        _ = await last.result
    }

    /// Ends the checkpoints, and returns the resume data of the part; nil if the part is empty, or larger than the
    /// total.
    func finish(_ part: PartialFile) async throws(FileFailure) -> ResumeData? {
        await stop()
        // A part of no bytes saves nothing, and one beyond the total cannot be of this entity.
        guard part.size > 0, part.size <= total ?? .max else { return nil }
        switch digesting {
        case .atFailure: return sound(makeData(part.size, try SystemFile.digest(of: part.path, upTo: part.size)))
        case .atOnce(let digest, let sidecar):
            let data = sound(makeData(part.size, digest.hexadecimal))
            if let data, let sidecar { try SystemFile.replace(sidecar, with: data.encoded()) }
            return data
        case .beside(let checkpoint, _):
            if part.size - checkpoint.digested <= Self.mostAtFailure {
                let size = part.size
                // In a task of its own, since the download's may be cancelled.
                _ = await Task(executorPreference: FileExecutor.shared) { try await checkpoint.write(upTo: size) }
                    .result
            }
            guard let written = await checkpoint.written, written.receivedBytes <= part.size else { return nil }
            guard written.receivedBytes < part.size else { return sound(written) }
            return sound(written.with(receivedBytes: part.size, digestedBytes: written.receivedBytes))
        }
    }

    private func sound(_ data: ResumeData) -> ResumeData? { data.flaw == nil ? data : nil }
}
