internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetSession
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Attempt {
    /// Downloads the file, checks it, and moves it to its destination.
    func download(_ result: inout TransferResult) async throws(BackgroundError) {
        let file = PlacedFile(definition)
        let isWhole = try await onFileThreads { [definition] () throws(BackgroundError) in
            try DestinationCheck.check(definition)
            return file.wholeState != nil
        }
        // A complete file is left by a process that ended before it moved the file.
        if !isWhole { try await transfer(to: file, &result) }
        control.noteReceived()
        didReceive?()
        faults(.didReceiveWhole)
        let state = try await check(file, result)
        faults(.didCheckWhole)
        (result.received, result.total) = (state.size, state.size)
        try await place(file, state, &result)
    }

    // MARK: Transfer

    /// Whether the download has no parts of earlier attempts. Looking for them takes long in a folder of many files.
    private var isFirst: Bool { record.machine.attempts <= 1 && definition.segments == nil }

    private func transfer(to file: PlacedFile, _ result: inout TransferResult) async throws(BackgroundError) {
        let resumeFile = URL(filePath: folder.resumeFile(record.id), directoryHint: .notDirectory)
        // A part keeps all that was written to it until the system ends, though not all of it was noted.
        if record.result.boot == nil || record.result.boot != BootID.current { try await cutParts(resumeFile, &result) }
        let resume = try await onFileThreads { () throws(BackgroundError) -> ResumeData? in
            let isNew = folder.storeDefinition(of: record)
            if isNew, isFirst { return nil }
            let data = (try? ResumeData(contentsOf: resumeFile))?.extendedToWholePart()
            // A download in segments has another part, which it looks for itself.
            if data != nil || definition.segments == nil {
                file.removeParts(except: data?.partialFile.path(percentEncoded: false))
            }
            return data
        }
        let box = HeadBox(result)
        defer { result = box.result }
        if try await transferSegments(to: file, wasPlain: resume != nil, box) { return }
        do throws(BackgroundError) {
            try await transfer(to: file, resuming: resume, resumeFile, box)
        } catch {
            guard let resume, error.isOfContradictoryRest else { throw error }
            // The server cannot continue the part, now or later.
            try await onFileThreads { () throws(BackgroundError) in
                resume.discard()
                unlink(resumeFile.path(percentEncoded: false))
            }
            try await transfer(to: file, resuming: nil, resumeFile, box)
        }
    }

    private func transfer(
        to file: PlacedFile, resuming resume: ResumeData?, _ resumeFile: URL, _ box: HeadBox
    ) async throws(BackgroundError) {
        let options = downloadOptions(resumeFile)
        let task = try await call().interceptor(HeadReader { try await note($0, box) }).downloadTask(
            to: URL(filePath: file.whole, directoryHint: .notDirectory), resuming: resume, options: options)
        task.onProgress { [reportChecked] in reportChecked($0.download) }
        task.setPace(pace)
        control.setStop { task.cancel(producingResumeData: { _ in }) }
        do {
            let response = try await task.value
            box.change { $0.take(response.head, nil, without: session.credentialNames) }
        } catch {
            let received = task.progress.download
            let isUseless = error.code == .invalidResumeData
            // A request that was stopped before it began has no resume data, and its part is as it was.
            let rest = error.resumeData ?? (isUseless || error.code != .cancelled ? nil : resume)
            box.change { result in
                result.received = rest?.receivedBytes ?? 0
                result.total = received.total ?? result.total
            }
            if isUseless {
                resume?.discard()
                try? FileManager.default.removeItem(at: resumeFile)
            }
            throw BackgroundError(error)
        }
    }

    /// Cuts off the bytes of the parts that were perhaps never written to the disk, and notes that the rest is safe.
    private func cutParts(_ resumeFile: URL, _ result: inout TransferResult) async throws(BackgroundError) {
        try await onFileThreads { [folder, record] () throws(BackgroundError) in
            if let data = try? ResumeData(contentsOf: resumeFile) {
                try BackgroundFolder.cut(data.partialFile.path(percentEncoded: false), to: data.receivedBytes)
            }
            // The offsets are written anew from the side file alone.
            if let segments = SegmentRecord(of: record.id, in: folder, trustsOffsets: false) {
                _ = try SegmentedPart(segments, of: record.id, in: folder)
            }
        }
        result.boot = BootID.current
        guard record.result.boot != nil else { return }
        try await store(result)
    }

    /// Reports progress, and stops the attempt if it leads to another size than the expected one.
    var reportChecked: @Sendable (TransferProgress) -> Void {
        { [control, report, expected = definition.expectedSize] progress in
            // Before the response, a part that is continued would seem to be empty.
            guard progress.completed > 0 || progress.total != nil else { return }
            report(progress)
            guard let expected, progress.completed > expected || progress.total ?? expected != expected else { return }
            control.fail(
                BackgroundError(
                    .sizeMismatch,
                    "The server sends \(progress.total ?? progress.completed) bytes or more, and \(expected) were expected."
                ))
        }
    }

    private func downloadOptions(_ resumeFile: URL) -> DownloadOptions {
        DownloadOptions {
            $0.createsDirectories = definition.createsDirectories
            $0.permissions = definition.permissions
            $0.synchronizes = true
            $0.keepsPart = true
            $0.reservesRoom = true
            $0.resumeFile = resumeFile
            $0.makesCheckpoints = true
            $0.resumeInterval = .seconds(5)
            // The file is renamed once more, and its folder is synchronized then.
            $0.leavesFolderUnsynchronized = true
        }
    }

    /// Stores the digest that the server declares, before the file can be complete.
    func note(_ head: HTTPResponse, _ box: HeadBox) async throws(BackgroundError) {
        guard head.status.kind == .successful else { return }
        faults(.didReceiveHead)
        let digest = ReprDigest.sha256(head.headerFields)
        guard box.result.serverDigest != digest else { return }
        box.change { $0.serverDigest = digest }
        try await store(box.result)
        faults(.didStoreHead)
    }

    // MARK: The complete file

    /// Checks the size and the digest of a complete file. A wrong file is removed.
    private func check(_ file: PlacedFile, _ result: TransferResult) async throws(BackgroundError) -> FileState {
        let digests = [definition.sha256, result.serverDigest].compactMap { $0 }
        let expected = definition.expectedSize
        return try await onFileThreads { () throws(BackgroundError) in
            guard let state = file.wholeState else {
                throw BackgroundError(.fileFailed, "The complete file \(file.whole) is gone.")
            }
            if let expected, state.size != expected {
                file.removeLeftovers()
                throw BackgroundError(
                    .sizeMismatch, "The file has \(state.size) bytes, and \(expected) were expected.")
            }
            guard !digests.isEmpty else { return state }
            let digest = try file.digest()
            if let other = digests.first(where: { $0 != digest }) {
                file.removeLeftovers()
                throw BackgroundError(
                    .digestMismatch, "The SHA-256 of the file is \(digest), and \(other) was expected.")
            }
            return state
        }
    }

    private func place(
        _ file: PlacedFile, _ state: FileState, _ result: inout TransferResult
    ) async throws(BackgroundError) {
        faults(.willPlace)
        // Before the move, so that the next process knows the file at the destination as this one.
        result.placing = state
        try await store(result)
        faults(.didNotePlace)
        result.placing = nil
        let (replaces, faults, folder, id) = (definition.replacesFile, faults, folder, record.id)
        let isFirst = isFirst
        try await onFileThreads { () throws(BackgroundError) in
            try file.move(replacing: replaces)
            faults(.didMove)
        }
        try await file.synchronizeFolder(with: folders)
        faults(.didSynchronizeFolder)
        try await onFileThreads { () throws(BackgroundError) in
            if !isFirst { file.removeParts() }
            folder.removePartFiles(of: id)
            faults(.didRemoveFiles)
        }
    }
}

extension BackgroundError {
    /// Whether a server has answered the request for a range of the same version (206) with another range, or with a
    /// body of another length.
    var isOfContradictoryRest: Bool {
        sessionCode == .invalidResponse && (underlying as? SessionError)?.head?.status == .partialContent
    }
}

/// The results of an attempt, which its response's head changes.
final class HeadBox: Sendable {
    private let state: Mutex<TransferResult>

    init(_ result: TransferResult) { state = Mutex(result) }

    var result: TransferResult { state.withLock { $0 } }

    func change(_ change: (inout TransferResult) -> Void) { state.withLock { change(&$0) } }
}

/// Reads the head of the final response.
private struct HeadReader: Interceptor {
    let read: @Sendable (HTTPResponse) async throws -> Void

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        let response = try await next(request)
        try await read(response.head)
        return response
    }
}
