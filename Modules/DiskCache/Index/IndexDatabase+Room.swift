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

    /// Makes room of this many bytes on the disk, which is full: empties the log, and removes entries that were used least recently.
    ///
    /// The files are removed first, since the transaction itself needs space. Should it fail, the entries are found to be damaged
    /// later.
    ///
    /// - Returns: What was removed; nil if there is no more room than before.
    func makeRoom(for size: Int64) throws -> Removal? {
        var (freed, removed): (Int64, [StoredResponse.ID]) = (emptyLog(), [])
        let oldest = try queue.inDatabase { database in
            try ids(database, "SELECT id FROM entry WHERE isStored ORDER BY used LIMIT 10000", [])
        }
        for id in oldest where freed < size {
            freed += folder.removeBody(id)
            removed.append(id)
        }
        guard freed > 0 else { return nil }
        guard !removed.isEmpty else { return Removal() }
        let removal = try? change(Notes()) { database, removal in try remove(removed, database, &removal) }
        return Removal(ids: removed, evictions: removal?.ids.count ?? removed.count)
    }

    /// Merges the log into the index, unless others read it.
    ///
    /// - Returns: How many bytes of the disk it took.
    private func emptyLog() -> Int64 {
        let space = folder.logSpace
        try? queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        return max(0, space - folder.logSpace)
    }
}
