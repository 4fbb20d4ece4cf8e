internal import FoundationEssentials
internal import GRDB
internal import LinnetSession

/// The journal of a session: its tasks, in SQLite.
///
/// Each function is one change, which has a transaction or shares it with others, also for other processes. The record
/// in the journal is the truth about a task: the process that transfers it acts on the record's wish, and an attempt
/// ends only if the record still has it.
struct Journal: Sendable {
    let queue: DatabaseQueue
    let writer: JournalWriter
    let cache = RecordCache()
    let faults: FaultPoints
    /// The damage of the journal that this one replaces, if it was damaged when it was opened.
    var damage: BackgroundError?

    // MARK: Adding

    /// Adds a task. It survives a power failure when the function returns.
    func accept(_ definition: TransferDefinition) async throws(BackgroundError) -> TaskRecord {
        faults(.willAccept)
        let record = try await write { database in
            try self.insert(definition, revision: Self.nextRevision(database), database)
        }
        faults(.didAccept)
        return record
    }

    /// Adds the tasks of a journal that is lost, with the identifiers that they had. It blocks.
    func restore(_ tasks: [(id: BackgroundTask.ID, definition: TransferDefinition)]) throws {
        try queue.write { database in
            let revision = try Self.nextRevision(database)
            for (id, definition) in tasks { _ = try self.insert(definition, id: id, revision: revision, database) }
        }
    }

    private func insert(
        _ definition: TransferDefinition, id: BackgroundTask.ID? = nil, revision: Int64, _ database: Database
    ) throws -> TaskRecord {
        let begin = max(definition.acceptedAt, definition.earliest ?? .min)
        let added = TaskRecord(
            id: BackgroundTask.ID(rawValue: 0), definition: definition, machine: TaskMachine(),
            result: TransferResult(), expiry: begin + definition.timeout, revision: revision, isTold: true)
        do {
            try database.cachedStatement(
                sql: """
                    INSERT INTO task (id, definition, machine, result, state, wish, destination, host, rank, readyAt, expiry,
                    isTold, changedAt, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(
                arguments: [
                    id?.rawValue, Self.encode(definition), Self.encode(added.machine), Self.encode(added.result),
                    added.machine.state.number, 0,
                    definition.kind == .download ? definition.path : nil, definition.host, definition.rank,
                    added.readyAt, added.expiry, 1, definition.acceptedAt, revision,
                ])
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw Self.destinationTaken(definition)
        }
        let record = added.with(BackgroundTask.ID(rawValue: database.lastInsertedRowID))
        cache.store(record)
        return record
    }

    static func destinationTaken(_ definition: TransferDefinition) -> BackgroundError {
        BackgroundError(.destinationTaken, "An unfinished task of the session already downloads to \(definition.path).")
    }

    // MARK: Reading

    func task(_ id: BackgroundTask.ID) async throws(BackgroundError) -> TaskRecord? {
        try await read { try self.record(id, $0) }
    }

    /// All tasks, in the order of their acceptance.
    func tasks() async throws(BackgroundError) -> [TaskRecord] {
        try await read { try self.records("ORDER BY id", [], $0) }
    }

    /// The tasks that changed after a revision, in the order of the changes, and the last of their revisions.
    func changes(since revision: Int64) async throws(BackgroundError) -> (records: [TaskRecord], revision: Int64) {
        try await read { database in
            let records = try self.records("WHERE revision > ? ORDER BY revision, id", [revision], database)
            return (records, records.last?.revision ?? revision)
        }
    }

    /// The tasks of an earlier process: ends that no program has been told, then unfinished ones, up to a number in
    /// all.
    func leftTasks(_ limit: Int) async throws(BackgroundError) -> (records: [TaskRecord], revision: Int64) {
        try await readTogether { database in
            let now = try Int64.fetchOne(database, sql: "SELECT revision FROM counter") ?? 0
            let told = try self.records("WHERE isTold = 0 ORDER BY id LIMIT ?", [limit], database)
            let rest = try self.records(
                "WHERE state < 3 AND isTold = 1 ORDER BY id LIMIT ?", [limit - told.count], database)
            return (told + rest, now)
        }
    }

    /// Whether all tasks have ended, apart from paused ones.
    func isIdle() async throws(BackgroundError) -> Bool {
        try await read { database in
            let statement = try database.cachedStatement(sql: "SELECT id FROM task WHERE state < 2 LIMIT 1")
            return try Int64.fetchOne(statement) == nil
        }
    }

    // MARK: Changing

    /// Applies an event to a task.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - id: The task.
    ///   - attempt: The attempt that the event belongs to. An event of an earlier one changes nothing.
    ///   - now: The time.
    ///   - recreations: How often an interrupted upload is created again.
    ///   - result: The results of the attempt, if they changed.
    /// - Returns: The task after the event.
    @discardableResult
    func apply(
        _ event: TaskMachine.Event, to id: BackgroundTask.ID, attempt: Int? = nil, at now: Int64, recreations: Int,
        result: TransferResult? = nil
    ) async throws(BackgroundError) -> TaskRecord {
        let record = try await write(durably: event.isDurable) { database in
            try self.apply(event, to: id, attempt: attempt, at: now, recreations, result: result, database)
        }
        guard let record else { throw .noSuchTask(id) }
        return record
    }

    /// Stores the results of the present attempt of a task.
    func store(
        _ result: TransferResult, of id: BackgroundTask.ID, attempt: Int, durably: Bool
    ) async throws(BackgroundError) {
        try await write(durably: durably) { database in
            guard let before = try self.record(id, database), before.machine.attempts == attempt else { return }
            var record = before
            record.result = result
            try self.update(&record, from: before, at: nil, database)
        }
    }

    /// Fails the waiting tasks that have expired. Running ones are stopped first.
    func expire(at now: Int64, recreations: Int) async throws(BackgroundError) {
        let ids = try await read { database in
            try Int64.fetchAll(
                database, sql: "SELECT id FROM task WHERE state = 0 AND expiry <= ?", arguments: [now])
        }
        guard !ids.isEmpty else { return }
        try await write { database in
            for id in ids {
                try self.apply(.expire, to: BackgroundTask.ID(rawValue: id), at: now, recreations, database)
            }
        }
    }

    /// Takes over the tasks of a process that has ended: its attempts were interrupted, and a clock that was set back
    /// has made no wait longer.
    ///
    /// - Returns: The tasks whose attempts were interrupted, as they were before.
    func takeOver(at now: Int64, recreations: Int) async throws(BackgroundError) -> [TaskRecord] {
        faults(.willAdopt)
        let running = try await write { database in
            let running = try self.records("WHERE state = 1 ORDER BY id", [], database)
            for record in running {
                guard record.result.placing == nil else { continue }
                try self.apply(.interrupt, to: record.id, at: now, recreations, database)
            }
            let longer = """
                WHERE state = 0 AND readyAt > ? AND json_extract(CAST(machine AS TEXT), '$.retryDelay')
                < json_extract(CAST(machine AS TEXT), '$.retryAt') - ?
                """
            for before in try self.records(longer, [now, now], database) {
                var record = before
                if record.machine.limitWait(at: now) { try self.update(&record, from: before, at: now, database) }
            }
            // This process may have a credential that the one before lacked.
            let lacking = """
                WHERE state = 0 AND readyAt > ? AND json_extract(CAST(machine AS TEXT), '$.error.code') = ?
                """
            let code = BackgroundError.Code.credentialUnavailable.description
            for before in try self.records(lacking, [now, code], database) {
                let rules = before.definition.rules(recreations: recreations)
                var record = before
                guard record.machine.apply(.retry, at: now, rules) else { continue }
                try self.update(&record, from: before, at: now, database)
            }
            return running
        }
        faults(.didAdopt)
        return running
    }

    /// The bandwidth limit of all tasks in bytes a second; nil for none.
    func bandwidthLimit() async throws(BackgroundError) -> Int64? {
        try await read { try Int64.fetchOne($0, sql: "SELECT value FROM setting WHERE name = 'bytesPerSecond'") }
    }

    func setBandwidthLimit(_ limit: Int64?) async throws(BackgroundError) {
        try await write { database in
            try database.execute(sql: "DELETE FROM setting WHERE name = 'bytesPerSecond'")
            guard let limit else { return }
            try database.execute(sql: "INSERT INTO setting VALUES ('bytesPerSecond', ?)", arguments: [limit])
        }
    }

    /// Changes the bandwidth limit of a task; returns nil if there is no such task.
    func setBandwidthLimit(_ limit: Int64?, of id: BackgroundTask.ID) async throws(BackgroundError) -> TaskRecord? {
        try await write { database in
            guard var record = try self.record(id, database) else { return nil }
            record.definition.bytesPerSecond = limit
            record.revision = try Self.nextRevision(database)
            try database.cachedStatement(sql: "UPDATE task SET definition = ?, revision = ? WHERE id = ?")
                .execute(arguments: [Self.encode(record.definition), record.revision, id.rawValue])
            cache.store(record)
            return record
        }
    }

    /// Notes that a program has been told the ends of tasks.
    func setTold(_ ids: [BackgroundTask.ID]) async throws(BackgroundError) {
        guard !ids.isEmpty else { return }
        try await write(durably: false) { database in
            for id in ids {
                try database.cachedStatement(sql: "UPDATE task SET isTold = 1 WHERE id = ?")
                    .execute(arguments: [id.rawValue])
            }
        }
    }

    /// Removes a task that has ended, and returns it; nil if there is no such task, or it has not ended.
    func remove(_ id: BackgroundTask.ID) async throws(BackgroundError) -> TaskRecord? {
        try await write { database in
            guard let record = try self.record(id, database), record.machine.state.isEnd else { return nil }
            try database.execute(sql: "DELETE FROM task WHERE id = ?", arguments: [id.rawValue])
            return record
        }
    }

    /// The tasks that ended before a time.
    func ended(before time: Int64) async throws(BackgroundError) -> [BackgroundTask.ID] {
        try await read { database in
            try Int64.fetchAll(
                database, sql: "SELECT id FROM task WHERE state >= 3 AND changedAt < ?", arguments: [time]
            ).map { BackgroundTask.ID(rawValue: $0) }
        }
    }
}

extension TaskMachine.Event {
    /// Whether the event survives a power failure. After one, a begun attempt is one that was never begun.
    fileprivate var isDurable: Bool {
        switch self {
        case .start, .interrupt: false
        case .succeed, .fail, .expire, .pause, .resume, .cancel, .retry: true
        }
    }
}

extension TaskRecord {
    fileprivate func with(_ id: BackgroundTask.ID) -> TaskRecord {
        TaskRecord(
            id: id, definition: definition, machine: machine, result: result, expiry: expiry, revision: revision,
            isTold: isTold)
    }
}
