internal import FoundationEssentials
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

/// The part of a download in segments, with its side files. It has its final size from the beginning. All functions
/// block, apart from reading the map.
final class SegmentedPart: Sendable {
    /// The time between two replacements of the side file.
    private static let interval = Duration.seconds(5)

    /// The number of bytes that are synchronized when a transfer is stopped, which must not take long.
    private static let mostAtEnd: Int64 = 64 << 20

    private struct State {
        var record: SegmentRecord
        /// The number of bytes that the side file describes.
        var saved: Int64 = 0
        var isSaving = false
        var lastSave = ContinuousClock.now
    }

    private let task: BackgroundTask.ID
    private let folder: BackgroundFolder
    private let part: Int32
    private let offsets: Int32
    private let state: Mutex<State>

    let path: String

    /// Opens the part of a record.
    init(
        _ record: SegmentRecord, of task: BackgroundTask.ID, in folder: BackgroundFolder
    ) throws(BackgroundError) {
        (self.task, self.folder, path) = (task, folder, record.part)
        part = SystemCall.retrying { open(record.part, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard part >= 0 else { throw .failedPart(record.part, "cannot be opened") }
        let name = folder.offsetsFile(task)
        offsets = SystemCall.retrying { open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard offsets >= 0 else {
            let error = BackgroundError.failedPart(name, "cannot be opened")
            close(part)
            throw error
        }
        state = Mutex(State(record: record, saved: record.map.received))
        try write(record.offsets, at: 0)
        try save(record)
    }

    deinit {
        close(part)
        close(offsets)
    }

    /// Creates the part of a new download, and its side files.
    static func create(
        _ path: String, url: String, entity: SegmentedEntity, map: SegmentMap, _ record: TaskRecord,
        in folder: BackgroundFolder
    ) throws(BackgroundError) -> SegmentedPart {
        let mode = mode_t((record.definition.permissions ?? 0o666) & 0o7777)
        // A killed process can leave a part without side files, which nothing can continue.
        unlink(path)
        let descriptor = SystemCall.retrying { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        guard descriptor >= 0 else { throw .failedPart(path, "cannot be created") }
        defer { close(descriptor) }
        do throws(BackgroundError) {
            if record.definition.permissions != nil, fchmod(descriptor, mode) != 0 {
                throw .failedPart(path, "cannot be given the requested permissions")
            }
            do throws(FileFailure) {
                try FileRoom.reserve(descriptor, from: 0, count: entity.total, path)
            } catch {
                throw .failedPart(path, error.problem, error.errorNumber)
            }
            guard SystemCall.retrying({ ftruncate(descriptor, off_t(entity.total)) }) == 0,
                let state = FileState(path: path)
            else { throw .failedPart(path, "cannot be extended") }
            let side = SegmentRecord(url: url, entity: entity, part: path, state: state, map: map)
            return try SegmentedPart(side, of: record.id, in: folder)
        } catch {
            unlink(path)
            throw error
        }
    }

    var map: SegmentMap { state.withLock { $0.record.map } }
    var entity: SegmentedEntity { state.withLock { $0.record.entity } }

    /// Counts bytes that were written to a segment, after they were.
    ///
    /// - Returns: The map. The offsets of all its bytes are in the file, so that the next process finds each byte that
    ///   a killed process has reported.
    func didWrite(_ count: Int, to index: Int) throws(BackgroundError) -> SegmentMap {
        let done = state.withLock { $0.record.map.segments[index].done } + Int64(count)
        // Without the lock: each segment has one writer at a time, and a place of its own in the file. And before the
        // bytes are counted, because the map is also reported by the writers of the other segments.
        try write([UInt64(done)], at: 1 + index)
        let (map, isDue) = state.withLock { state in
            state.record.map.write(count, to: index)
            let isDue = !state.isSaving && ContinuousClock.now - state.lastSave >= Self.interval
            if isDue { state.isSaving = true }
            return (state.record.map, isDue)
        }
        if isDue { try save() }
        return map
    }

    /// Notes the first bytes, after they were written. Without them, the part is not used by another attempt.
    func noteBeginning() throws(BackgroundError) {
        let received = state.withLock { $0.record.map.segments[0].done }
        let beginning = Beginning(of: path, count: Int(min(received, Int64(SegmentedTransfer.probe))))
        state.withLock { $0.record.beginning = beginning }
        try save(state.withLock { $0.record })
    }

    /// Replaces the side file with one that has all bytes that were written, after they were synchronized to the disk.
    func save() throws(BackgroundError) {
        // Before the synchronization, which does not cover what is written meanwhile.
        let record = state.withLock { $0.record }
        defer {
            state.withLock { state in
                state.isSaving = false
                state.lastSave = .now
            }
        }
        try synchronize()
        try save(record)
        state.withLock { $0.saved = record.map.received }
    }

    /// Replaces the side file if that does not take long. Without it, the last bytes are lost with the system's end.
    func saveAtEnd() throws(BackgroundError) {
        if state.withLock({ $0.record.map.received - $0.saved <= Self.mostAtEnd }) { try save() }
    }

    /// Moves the whole file to another name, and removes the side files.
    func move(to whole: String) throws(BackgroundError) {
        try synchronize()
        guard rename(path, whole) == 0 else { throw .failedPart(whole, "cannot be moved into place") }
        folder.removeSegmentFiles(of: task)
    }

    /// Removes the part and its side files.
    func discard() {
        folder.removeSegmentFiles(of: task)
        unlink(path)
    }

    private func synchronize() throws(BackgroundError) {
        guard SystemCall.retrying({ fsync(part) }) == 0 else {
            throw .failedPart(path, "cannot be synchronized to the disk")
        }
    }

    private func save(_ record: SegmentRecord) throws(BackgroundError) {
        let name = folder.segmentsFile(task)
        do {
            try SideFile.replace(name, with: try JSONEncoder().encode(record))
        } catch {
            throw BackgroundError(.fileFailed, "The side file \(name) cannot be written: \(error)", underlying: error)
        }
    }

    /// Writes numbers to the file of offsets, each of eight bytes.
    private func write(_ numbers: [UInt64], at index: Int) throws(BackgroundError) {
        let words = numbers.map(\.littleEndian)
        let count = words.withUnsafeBytes { bytes in
            SystemCall.retrying { pwrite(offsets, bytes.baseAddress, bytes.count, off_t(8 * index)) }
        }
        guard count == 8 * numbers.count else {
            throw .failedPart(folder.offsetsFile(task), "cannot be written", count < 0 ? errno : ENOSPC)
        }
    }
}

extension BackgroundError {
    /// The error of a file of a download.
    static func failedPart(_ path: String, _ problem: String, _ number: Int32 = errno) -> BackgroundError {
        let failure = FileFailure(path: path, errorNumber: number, problem: problem)
        return BackgroundError(Code(ofFile: number), "\(failure)", underlying: failure)
    }
}
