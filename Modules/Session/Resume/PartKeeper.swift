internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetSerialization
internal import NIOCore

/// Makes the resume data of a download: when the download fails, and at intervals while it runs if there is a resume
/// file.
///
/// Without a resume file, nothing is hashed until the download fails.
struct PartKeeper {
    let url: URL
    let validators: ResumeValidators
    let total: Int64?
    private let sidecar: FilePlace?
    private let interval: Duration
    private let hasher: SHA256Hasher?
    private var lastWrite: ContinuousClock.Instant?

    /// Returns nil if the download cannot be resumed: its request is not a GET, the response has no strong validator,
    /// the server does not support ranges, or the response has a content coding, decoded or not.
    ///
    /// - Parameter hasher: The hasher that has consumed the part of a resumed download.
    init?(
        _ response: StreamedResponse, answering request: SessionRequest, total: Int64?, options: DownloadOptions,
        continuing resume: ResumeData?, hasher: SHA256Hasher?
    ) {
        let head = response.head
        let known = resume?.validators ?? ResumeValidators(head)
        // Without a strong validator, nothing would reveal that the rest belongs to another version.
        guard request.method == .get, resume != nil || head.status.code == 200, known.ifRange != nil,
            !head.headerFields.contains(.contentEncoding), response.contentCodings.isEmpty,
            head.headerFields[.acceptRanges]?.lowercased() != "none"
        else { return nil }
        url = request.url.withoutUserInfo
        validators = known
        self.total = total
        sidecar = options.resumeFile.flatMap { FilePlace($0.path(percentEncoded: false)) }
        interval = options.resumeInterval
        self.hasher = sidecar == nil ? nil : hasher ?? SHA256Hasher()
    }

    /// Hashes bytes that were written to the part, and writes the resume file at the intended intervals.
    mutating func wrote(_ buffers: some Collection<ByteBuffer>, to part: PartialFile) throws(FileFailure) {
        guard let sidecar, let hasher else { return }
        for buffer in buffers { buffer.withUnsafeReadableBytes { hasher.update($0) } }
        let now = ContinuousClock.now
        if let lastWrite, now - lastWrite < interval { return }
        // Written after the bytes that it describes, so that it never promises bytes that the part lacks.
        lastWrite = now
        try SystemFile.replace(sidecar, with: makeData(part, digest: hasher.hexadecimalDigest).encoded())
    }

    /// Returns the resume data of the part; nil if the part is empty, or larger than the total.
    func finish(_ part: PartialFile) throws(FileFailure) -> ResumeData? {
        // A part of no bytes saves nothing, and one beyond the total cannot be of this entity.
        guard part.size > 0, part.size <= total ?? .max else { return nil }
        let digest =
            if let hasher { hasher.hexadecimalDigest } else { try SystemFile.digest(of: part.path, upTo: part.size) }
        let data = makeData(part, digest: digest)
        guard data.flaw == nil else { return nil }
        if let sidecar { try SystemFile.replace(sidecar, with: data.encoded()) }
        return data
    }

    private func makeData(_ part: PartialFile, digest: String) -> ResumeData {
        ResumeData(
            url: url, entityTag: validators.entityTag, lastModified: validators.lastModified,
            partialFile: URL(filePath: part.path).absoluteURL, receivedBytes: part.size, totalBytes: total,
            digest: digest)
    }
}
