internal import FoundationEssentials
internal import LinnetSerialization
internal import Synchronization

/// The directory of a worker, which one worker has at a time.
final class WorkerPlace: Sendable {
    let folder: BackgroundFolder
    let folders = FolderSynchronizer()
    /// The lock of the directory, and the name by which its parts are known.
    private let taken = Mutex<(lock: RunnerLock, token: String)?>(nil)

    init(directory: URL) throws(BackgroundError) { folder = try BackgroundFolder(directory) }

    private var objects: String { folder.path + "/objects" }

    /// Takes the directory unless it is taken already. It blocks.
    func take() throws(BackgroundError) {
        guard taken.withLock({ $0 == nil }) else { return }
        try folder.prepare(with: [objects])
        guard let lock = try RunnerLock.take(folder) else {
            throw BackgroundError(
                .directoryInUse, "Another worker has the directory \(folder.path): give each worker its own.")
        }
        let token = try storedToken()
        taken.withLock { $0 = (lock, token) }
    }

    /// Leaves the directory to the next worker.
    func leave() { taken.withLock { $0 = nil } }

    /// The random name of the directory.
    private func storedToken() throws(BackgroundError) -> String {
        let path = folder.path + "/token"
        if let data = FileManager.default.contents(atPath: path), !data.isEmpty, data.count <= 32,
            data.allSatisfy({ (48...57).contains($0) || (97...122).contains($0) })
        {
            return String(decoding: data, as: UTF8.self)
        }
        let token = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(token.utf8), attributes: [.posixPermissions: 0o600])
        else { throw .failedCall(path, "cannot be created") }
        return token
    }

    /// Returns the task of a download that the code of a session's attempts transfers.
    ///
    /// The mark of the files is the worker's own. A worker that was away does not write into another's part.
    func record(of lease: TransferLease, at file: URL?) -> TaskRecord {
        let transfer = lease.transfer
        let id = BackgroundTask.ID(rawValue: transfer.number)
        var definition = transfer.definition
        definition.transferID = transfer.id
        definition.mark += "-" + (taken.withLock { $0?.token } ?? "")
        if let file {
            definition.path = file.absoluteURL.path(percentEncoded: false)
        } else {
            definition.path = "\(objects)/\(id)"
            (definition.replacesFile, definition.permissions) = (true, nil)
        }
        return record(transfer, definition)
    }

    /// Returns the task of an upload that the code of a session's attempts transfers.
    ///
    /// - Parameter file: The file, as it is now: the attempt sends no other.
    func record(of lease: TransferLease, sending file: URL) -> TaskRecord {
        var definition = lease.transfer.definition
        definition.path = file.absoluteURL.path(percentEncoded: false)
        definition.source = FileState(path: definition.path, followsLinks: true)
        return record(lease.transfer, definition)
    }

    private func record(_ transfer: StoredTransfer, _ definition: TransferDefinition) -> TaskRecord {
        var result = transfer.result
        result.received = 0
        // The system's start is another worker's. Without it, a part counts as far as its checkpoints go.
        result.boot = nil
        return TaskRecord(
            id: BackgroundTask.ID(rawValue: transfer.number), definition: definition, machine: transfer.machine,
            result: result, expiry: transfer.expiryTime,
            revision: 0, isTold: true)
    }

    // MARK: Leftovers

    /// Removes the files that a killed process has not renamed.
    func removeUnfinishedFiles() async {
        let folder = folder
        _ = try? await onFileThreads { () throws(BackgroundError) in folder.removeUnfinishedPartFiles() }
    }

    /// Removes the parts of transfers that have ended. It asks the store for each part.
    ///
    /// - Parameter active: The numbers of the transfers that have attempts now, which are left alone.
    func sweep(_ store: any TransferStore, except active: Set<Int64>) async throws(BackgroundError) {
        let folder = folder
        let found = try await onFileThreads { () throws(BackgroundError) in
            folder.tasksWithPartFiles().filter { !active.contains($0.rawValue) }.map { ($0, folder.definition($0)) }
        }
        for (id, definition) in found {
            if let name = definition?.transferID, let transfer = try await store.transfer(name),
                transfer.number == id.rawValue, !transfer.state.isEnd
            {
                continue
            }
            try await onFileThreads { () throws(BackgroundError) in
                if let definition { PlacedFile(definition).removeLeftovers() }
                folder.removePartFiles(of: id)
            }
        }
    }

    /// Removes the files of a transfer that has ended.
    ///
    /// - Parameter hasOthers: Whether other workers may have left files of it.
    func remove(_ record: TaskRecord, hasOthers: Bool) async {
        let folder = folder
        _ = try? await onFileThreads { () throws(BackgroundError) in
            let file = PlacedFile(record.definition)
            file.removeLeftovers()
            folder.removePartFiles(of: record.id)
            if hasOthers, let mark = record.definition.mark.split(separator: "-").first {
                file.removeOthers(String(mark))
            }
        }
    }
}
