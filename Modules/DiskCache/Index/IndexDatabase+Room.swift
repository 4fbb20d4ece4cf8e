internal import GRDB
internal import LinnetCache

extension IndexDatabase {
    /// Removes what processes have left that were killed, and what there is no space for if the limit has become smaller.
    func sweep() throws {
        // Listed before the rows are read, so that an entry that is committed meanwhile is among them.
        let files = folder.bodyFiles()
        let (stored, unfinished) = try queue.inDatabase { database in
            (
                Set(try ids(database, "SELECT id FROM entry WHERE isStored", [])),
                try ids(database, "SELECT id FROM entry WHERE NOT isStored", [])
            )
        }
        let candidates = files.subtracting(stored).union(unfinished)
        let total = try self.total()
        let isRight = try queue.inDatabase { try Self.counted($0) } == total
        guard !candidates.isEmpty || total.size > limits.total || !isRight else { return }
        _ = try change(Notes()) { database, removal in
            if !isRight {
                try run(database, "DELETE FROM total", [])
                try run(database, "INSERT INTO total \(Self.count)", [])
            }
            for id in candidates where LockedFile.isAbandoned(folder.unfinishedBody(id)) {
                // Entries are committed in transactions, so this one is not committed now.
                let isStored = try Row.fetchOne(
                    database, sql: "SELECT 1 FROM entry WHERE id = ? AND isStored", arguments: [id.key])
                guard isStored == nil, LockedFile.isAbandoned(folder.body(id)) else { continue }
                try run(database, "DELETE FROM entry WHERE id = ?", [id.key])
                removal.ids.append(id)
            }
            try evict(database, &removal)
        }
    }

    /// Makes room of this many bytes on the disk, which is full: merges the log into the index, and removes entries that were used
    /// least recently.
    ///
    /// The files are removed first, since the transaction itself needs space, as does merging the log if the index grows with it.
    /// Should the transaction fail, the entries are found to be damaged later.
    ///
    /// - Parameter uses: The uses that the index does not have yet. They are later than those in it.
    /// - Returns: What was removed; nil if there is no more room than before.
    func makeRoom(for size: Int64, after uses: [StoredResponse.ID: Int64]) throws -> Removal? {
        let space = folder.indexSpace
        var (ofBodies, removed, isMerged): (Int64, [StoredResponse.ID], Bool) = (0, [], mergeLog())
        var freed: Int64 { ofBodies + space - folder.indexSpace }
        for id in try leastRecentlyUsed(uses) where freed < size {
            ofBodies += folder.removeBody(id)
            removed.append(id)
            if !isMerged { isMerged = mergeLog() }
        }
        guard !removed.isEmpty else { return freed > 0 ? Removal() : nil }
        let removal = try? change(Notes()) { database, removal in try remove(removed, database, &removal) }
        // The transaction has taken some of the room.
        _ = mergeLog()
        guard freed > 0 else { return nil }
        return Removal(ids: removed, evictions: removal?.ids.count ?? removed.count)
    }

    /// The stored entries, those first that were used least recently.
    private func leastRecentlyUsed(_ uses: [StoredResponse.ID: Int64]) throws -> [StoredResponse.ID] {
        let stored = try queue.inDatabase { database in
            try ids(database, "SELECT id FROM entry WHERE isStored ORDER BY used LIMIT 10000", [])
        }
        let used = stored.filter { uses[$0] != nil }.sorted { uses[$0, default: 0] < uses[$1, default: 0] }
        return stored.filter { uses[$0] == nil } + used
    }

    /// Merges the log into the index and empties it, unless others read it.
    ///
    /// - Returns: False if the disk has no space for what the index grows by.
    private func mergeLog() -> Bool {
        do {
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        } catch let error as DatabaseError where error.isOfFullDisk {
            return false
        } catch {}
        return true
    }
}
