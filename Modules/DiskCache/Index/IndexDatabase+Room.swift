internal import GRDB
internal import LinnetCache

extension IndexDatabase {
    /// Removes remains of processes that were killed, and entries beyond a limit that has become smaller.
    func sweep() throws {
        // Listing precedes reading the rows, so that the rows include each entry that is committed meanwhile.
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
                // The lock excludes a commit at this moment, but one may have come before the lock.
                let isStored = try Row.fetchOne(
                    database, sql: "SELECT 1 FROM entry WHERE id = ? AND isStored", arguments: [id.key])
                guard isStored == nil, LockedFile.isAbandoned(folder.body(id)) else { continue }
                try run(database, "DELETE FROM entry WHERE id = ?", [id.key])
                removal.ids.append(id)
            }
            try evict(database, &removal)
        }
    }

    /// Makes room for this many bytes on a full disk: merges the log into the index, and removes the least recently
    /// used entries.
    ///
    /// The files are removed first, since the transaction itself needs space, and so does merging the log if the index
    /// grows. If the transaction fails, reading the entries later finds them damaged.
    ///
    /// - Parameter uses: The uses that the index does not have yet. They are later than its own.
    /// - Returns: The removal; nil if it freed no space.
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
        // The log of the transaction takes some of the new space.
        _ = mergeLog()
        guard freed > 0 else { return nil }
        return Removal(ids: removed, evictions: removal?.ids.count ?? removed.count)
    }

    /// The stored entries, the least recently used first.
    private func leastRecentlyUsed(_ uses: [StoredResponse.ID: Int64]) throws -> [StoredResponse.ID] {
        let stored = try queue.inDatabase { database in
            try ids(database, "SELECT id FROM entry WHERE isStored ORDER BY used LIMIT 10000", [])
        }
        let used = stored.filter { uses[$0] != nil }.sorted { uses[$0, default: 0] < uses[$1, default: 0] }
        return stored.filter { uses[$0] == nil } + used
    }

    /// Merges the log into the index and empties it, unless others read it.
    ///
    /// - Returns: False if the disk has no space for the growth of the index.
    private func mergeLog() -> Bool {
        do {
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        } catch let error as DatabaseError where error.isOfFullDisk {
            return false
        } catch {}
        return true
    }
}
