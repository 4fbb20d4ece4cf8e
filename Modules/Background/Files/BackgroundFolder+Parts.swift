internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetSession

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The files of begun downloads in the directory of a session. All functions block.
extension BackgroundFolder {
    /// The resume file of a task's download.
    func resumeFile(_ id: BackgroundTask.ID) -> String { "\(parts)/\(id).resume" }

    /// The file with the definition of a begun download. Only a lost journal needs it.
    private func definitionFile(_ id: BackgroundTask.ID) -> String { "\(parts)/\(id).task" }

    /// Stores the definition of a download that begins; returns whether it has not begun before.
    @discardableResult
    func storeDefinition(of record: TaskRecord) -> Bool {
        let path = definitionFile(record.id)
        let descriptor = SystemCall.retrying { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { return errno != EEXIST }
        defer { close(descriptor) }
        // Without the file, the download is lost together with the journal, and nothing else.
        guard let data = try? JSONEncoder().encode(record.definition) else { return true }
        if SystemCall.writeAll([UInt8](data)[...], to: descriptor) != nil { unlink(path) }
        return true
    }

    /// The files of a download in segments.
    func segmentsFile(_ id: BackgroundTask.ID) -> String { "\(parts)/\(id).segments" }
    func offsetsFile(_ id: BackgroundTask.ID) -> String { "\(parts)/\(id).offsets" }

    func removeSegmentFiles(of id: BackgroundTask.ID) {
        for path in [segmentsFile(id), offsetsFile(id)] { unlink(path) }
    }

    func removePartFiles(of id: BackgroundTask.ID) {
        for path in [resumeFile(id), definitionFile(id)] { unlink(path) }
        removeSegmentFiles(of: id)
    }

    /// Removes the resume files that a killed process has not renamed. Only the session that transfers writes there.
    func removeUnfinishedPartFiles() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parts)) ?? []
        for name in names where name.hasPrefix(".") { try? FileManager.default.removeItem(atPath: parts + "/" + name) }
    }

    /// The tasks that have files.
    func tasksWithPartFiles() -> Set<BackgroundTask.ID> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parts)) ?? []
        return Set(names.compactMap { $0.split(separator: ".").first.flatMap { BackgroundTask.ID(String($0)) } })
    }

    /// The downloads that were begun, for a journal that is lost.
    func begunDownloads() -> [(id: BackgroundTask.ID, definition: TransferDefinition)] {
        tasksWithPartFiles().sorted().compactMap { id in
            definition(id).map { (id, $0) }
        }
    }

    /// The definition of a begun download; nil if it cannot be read.
    func definition(_ id: BackgroundTask.ID) -> TransferDefinition? {
        FileManager.default.contents(atPath: definitionFile(id))
            .flatMap { try? JSONDecoder().decode(TransferDefinition.self, from: $0) }
    }

    /// The progress of a begun download whose part this process does not write, by the files that are there.
    func progress(of record: TaskRecord) -> TransferProgress {
        if let size = PlacedFile(record.definition).wholeState?.size {
            return TransferProgress(completed: size, total: size)
        }
        if let segments = SegmentRecord(of: record.id, in: self) {
            return TransferProgress(completed: segments.map.received, total: segments.map.total)
        }
        // A process can end when it has removed the part of an older version, and has not described a new one. Neither
        // the old resume file nor the journal tells of bytes that can be continued then.
        guard let data = try? ResumeData(contentsOf: URL(filePath: resumeFile(record.id))),
            let size = FileState(path: data.partialFile.path(percentEncoded: false))?.size, size >= data.receivedBytes
        else { return TransferProgress(total: record.result.total ?? record.definition.expectedSize) }
        return TransferProgress(completed: size, total: data.totalBytes)
    }

    /// Cuts off the end of a part; nothing if it is shorter, or gone. Blocks.
    static func cut(_ part: String, to size: Int64) throws(BackgroundError) {
        guard let state = FileState(path: part), state.size > size else { return }
        let descriptor = SystemCall.retrying { open(part, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else { throw .failedPart(part, "cannot be opened") }
        defer { close(descriptor) }
        guard SystemCall.retrying({ ftruncate(descriptor, off_t(size)) }) == 0 else {
            throw .failedPart(part, "cannot be cut")
        }
    }
}
