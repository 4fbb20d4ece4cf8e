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
    let faults: FaultPoints
    /// The damage of the journal that this one replaces, if it was damaged when it was opened.
    var damage: BackgroundError?

    /// The limits under which the next task is chosen.
    struct Room: Sendable {
        /// The hosts that have their maximum of active tasks.
        var fullHosts: Set<String>
    }

    // MARK: Adding

    /// Adds a task. It survives a power failure when the function returns.
    func accept(_ definition: TransferDefinition) async throws(BackgroundError) -> TaskRecord {
        faults(.willAccept)
        let record = try await write { database in
            try Self.insert(definition, revision: Self.nextRevision(database), database)
        }
        faults(.didAccept)
        return record
    }

    /// Adds the tasks of a journal that is lost, with the identifiers that they had. It blocks.
    func restore(_ tasks: [(id: BackgroundTask.ID, definition: TransferDefinition)]) throws {
        try queue.write { database in
            let revision = try Self.nextRevision(database)
            for (id, definition) in tasks { _ = try Self.insert(definition, id: id, revision: revision, database) }
        }
    }

    private static func insert(
        _ definition: TransferDefinition, id: BackgroundTask.ID? = nil, revision: Int64, _ database: Database
    ) throws -> TaskRecord {
        let begin = max(definition.acceptedAt, definition.earliest ?? .min)
        let record = TaskRecord(
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
                    id?.rawValue, encode(definition), encode(record.machine), encode(record.result),
                    record.machine.state.number, 0,
                    definition.kind == .download ? definition.path : nil, definition.host, definition.rank,
                    record.readyAt, record.expiry, 1, definition.acceptedAt, revision,
                ])
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw destinationTaken(definition)
        }
        return record.with(BackgroundTask.ID(rawValue: database.lastInsertedRowID))
    }

    private static func destinationTaken(_ definition: TransferDefinition) -> BackgroundError {
        BackgroundError(.destinationTaken, "An unfinished task of the session already downloads to \(definition.path).")
    }

    // MARK: Reading

    func task(_ id: BackgroundTask.ID) async throws(BackgroundError) -> TaskRecord? {
        try await read { try Self.record(id, $0) }
    }

    /// All tasks, in the order of their acceptance.
    func tasks() async throws(BackgroundError) -> [TaskRecord] {
        try await read { try Self.records("ORDER BY id", [], $0) }
    }

    /// The tasks that changed after a revision, in the order of the changes, and the present revision.
    func changes(since revision: Int64) async throws(BackgroundError) -> (records: [TaskRecord], revision: Int64) {
        try await read { database in
            let now = try Int64.fetchOne(database, sql: "SELECT revision FROM counter") ?? 0
            guard now != revision else { return ([], now) }
            return (try Self.records("WHERE revision > ? ORDER BY revision, id", [revision], database), now)
        }
    }

    /// The tasks of an earlier process: ends that no program has been told, then unfinished ones, up to a number in
    /// all.
    func leftTasks(_ limit: Int) async throws(BackgroundError) -> (records: [TaskRecord], revision: Int64) {
        try await read { database in
            let now = try Int64.fetchOne(database, sql: "SELECT revision FROM counter") ?? 0
            let told = try Self.records("WHERE isTold = 0 ORDER BY id LIMIT ?", [limit], database)
            let rest = try Self.records(
                "WHERE state < 3 AND isTold = 1 ORDER BY id LIMIT ?", [limit - told.count], database)
            return (told + rest, now)
        }
    }

    /// The running tasks with a wish, or past their expiry.
    func tasksToStop(at now: Int64) async throws(BackgroundError) -> Set<BackgroundTask.ID> {
        try await read { database in
            let ids = try Int64.fetchAll(
                database, sql: "SELECT id FROM task WHERE state = 1 AND (wish <> 0 OR expiry <= ?)", arguments: [now])
            return Set(ids.map { BackgroundTask.ID(rawValue: $0) })
        }
    }

    /// The time of the next change that no event announces: a wait or an expiry that ends; nil if there is none.
    func nextTime(after now: Int64) async throws(BackgroundError) -> Int64? {
        try await read { database in
            let ready = try Int64.fetchOne(
                database, sql: "SELECT min(readyAt) FROM task WHERE state = 0 AND readyAt > ?", arguments: [now])
            let expiry = try Int64.fetchOne(database, sql: "SELECT min(expiry) FROM task WHERE state < 2")
            return [ready, expiry].compactMap { $0 }.min()
        }
    }

    /// Whether all tasks have ended, apart from paused ones.
    func isIdle() async throws(BackgroundError) -> Bool {
        try await read { try Int64.fetchOne($0, sql: "SELECT id FROM task WHERE state < 2 LIMIT 1") == nil }
    }

    // MARK: Changing

    /// Begins the next task: the first in order that is due and whose host has room.
    ///
    /// - Returns: The task, with the results of its attempts before.
    func startNext(_ room: Room, at now: Int64, recreations: Int) async throws(BackgroundError) -> TaskRecord? {
        faults(.willStart)
        let started = try await write(durably: false) { database -> TaskRecord? in
            let marks = room.fullHosts.map { _ in "?" }.joined(separator: ", ")
            guard
                let id = try Int64.fetchOne(
                    database,
                    sql: """
                        SELECT id FROM task WHERE state = 0 AND readyAt <= ? AND host NOT IN (\(marks)) ORDER BY rank, id LIMIT 1
                        """, arguments: StatementArguments([now]) + StatementArguments(room.fullHosts))
            else { return nil }
            let task = BackgroundTask.ID(rawValue: id)
            guard let before = try Self.record(task, database)?.result else { return nil }
            var result = before
            // A part of an earlier boot can have bytes that never reached the disk. The attempt cuts them off before it
            // writes the present boot: if it ends before, the next one must not trust them either.
            result.boot = before.boot ?? BootID.current
            var record = try Self.apply(.start, to: task, at: now, recreations, result: result, database)
            record?.result = before
            return record
        }
        if started != nil { faults(.didStart) }
        return started
    }

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
            try Self.apply(event, to: id, attempt: attempt, at: now, recreations, result: result, database)
        }
        guard let record else { throw .noSuchTask(id) }
        return record
    }

    /// Stores the results of the present attempt of a task.
    func store(
        _ result: TransferResult, of id: BackgroundTask.ID, attempt: Int, durably: Bool
    ) async throws(BackgroundError) {
        try await write(durably: durably) { database in
            guard var record = try Self.record(id, database), record.machine.attempts == attempt else { return }
            record.result = result
            try Self.update(&record, at: nil, database)
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
                try Self.apply(.expire, to: BackgroundTask.ID(rawValue: id), at: now, recreations, database)
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
            let running = try Self.records("WHERE state = 1 ORDER BY id", [], database)
            for record in running {
                guard record.result.placing == nil else { continue }
                try Self.apply(.interrupt, to: record.id, at: now, recreations, database)
            }
            let longer = """
                WHERE state = 0 AND readyAt > ? AND json_extract(CAST(machine AS TEXT), '$.retryDelay')
                < json_extract(CAST(machine AS TEXT), '$.retryAt') - ?
                """
            for var record in try Self.records(longer, [now, now], database) {
                if record.machine.limitWait(at: now) { try Self.update(&record, at: now, database) }
            }
            // This process may have a credential that the one before lacked.
            let lacking = """
                WHERE state = 0 AND readyAt > ? AND json_extract(CAST(machine AS TEXT), '$.error.code') = ?
                """
            let code = BackgroundError.Code.credentialUnavailable.description
            for var record in try Self.records(lacking, [now, code], database) {
                let rules = TaskMachine.Rules(kind: record.definition.kind, recreations: recreations)
                if record.machine.apply(.retry, at: now, rules) { try Self.update(&record, at: now, database) }
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
            guard var record = try Self.record(id, database) else { return nil }
            record.definition.bytesPerSecond = limit
            record.revision = try Self.nextRevision(database)
            try database.cachedStatement(sql: "UPDATE task SET definition = ?, revision = ? WHERE id = ?")
                .execute(arguments: [Self.encode(record.definition), record.revision, id.rawValue])
            return record
        }
    }

    /// The bandwidth limits of the running tasks that have one.
    func bandwidthLimitsOfRunningTasks() async throws(BackgroundError) -> [BackgroundTask.ID: Int64] {
        try await read { database in
            let sql = "SELECT id, json_extract(CAST(definition AS TEXT), '$.bytesPerSecond') FROM task WHERE state = 1"
            var limits: [BackgroundTask.ID: Int64] = [:]
            for row in try Row.fetchAll(database, sql: sql) {
                guard let id = Self.value(row, 0, Int64.self) else { continue }
                limits[BackgroundTask.ID(rawValue: id)] = Self.value(row, 1, Int64.self)
            }
            return limits
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
            guard let record = try Self.record(id, database), record.machine.state.isEnd else { return nil }
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

// MARK: - Transactions

extension Journal {
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(BackgroundError) -> Value {
        do { return try await queue.read(body) } catch { throw .storage(error) }
    }

    /// Runs a transaction. One that is not durable can be undone by a power failure, but not by the end of the process.
    func write<Value: Sendable>(
        durably: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(BackgroundError) -> Value {
        do { return try await writer.write(durably: durably, body) } catch { throw .storage(error) }
    }

    private static func nextRevision(_ database: Database) throws -> Int64 {
        try database.cachedStatement(sql: "UPDATE counter SET revision = revision + 1").execute()
        return try Int64.fetchOne(database.cachedStatement(sql: "SELECT revision FROM counter")) ?? 0
    }

    @discardableResult
    private static func apply(
        _ event: TaskMachine.Event, to id: BackgroundTask.ID, attempt: Int? = nil, at now: Int64, _ recreations: Int,
        result: TransferResult? = nil, _ database: Database
    ) throws -> TaskRecord? {
        guard var record = try record(id, database) else { return nil }
        if let attempt, record.machine.attempts != attempt { return record }
        let rules = TaskMachine.Rules(kind: record.definition.kind, recreations: recreations)
        guard record.machine.apply(event, at: now, rules) || result != nil else { return record }
        if let result { record.result = result }
        if case .retry = event { record.expiry = max(record.expiry, now + record.definition.timeout) }
        if record.machine.state.isEnd { record.isTold = false }
        try update(&record, at: now, database)
        return record
    }

    private static func update(_ record: inout TaskRecord, at now: Int64?, _ database: Database) throws {
        record.revision = try nextRevision(database)
        do {
            try database.cachedStatement(
                sql: """
                    UPDATE task SET machine = ?, result = ?, state = ?, wish = ?, readyAt = ?, expiry = ?, isTold = ?,
                    changedAt = coalesce(?, changedAt), revision = ? WHERE id = ?
                    """
            ).execute(
                arguments: [
                    encode(record.machine), encode(record.result), record.machine.state.number,
                    record.machine.wish == nil ? 0 : 1, record.readyAt, record.expiry, record.isTold ? 1 : 0, now,
                    record.revision, record.id.rawValue,
                ])
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw destinationTaken(record.definition)
        }
    }

    private static func record(_ id: BackgroundTask.ID, _ database: Database) throws -> TaskRecord? {
        try records("WHERE id = ?", [id.rawValue], database).first
    }

    private static func records(
        _ rest: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> [TaskRecord] {
        let statement = try database.cachedStatement(
            sql: "SELECT id, definition, machine, result, expiry, revision, isTold FROM task \(rest)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var records: [TaskRecord] = []
        while let row = try rows.next() { records.append(try record(row)) }
        return records
    }

    private static func record(_ row: Row) throws -> TaskRecord {
        let decoder = JSONDecoder()
        guard let id = value(row, 0, Int64.self), let definition = value(row, 1, Data.self),
            let machine = value(row, 2, Data.self), let result = value(row, 3, Data.self),
            let expiry = value(row, 4, Int64.self), let revision = value(row, 5, Int64.self),
            let definition = try? decoder.decode(TransferDefinition.self, from: definition),
            let machine = try? decoder.decode(TaskMachine.self, from: machine),
            let result = try? decoder.decode(TransferResult.self, from: result)
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row of the journal is damaged") }
        return TaskRecord(
            id: BackgroundTask.ID(rawValue: id), definition: definition, machine: machine, result: result,
            expiry: expiry, revision: revision, isTold: value(row, 6, Int64.self) == 1)
    }

    /// The value of a column; nil if it has another type. GRDB's own conversions stop the program for that.
    static func value<Value: DatabaseValueConvertible>(
        _ row: Row, _ index: Int, _ type: Value.Type
    ) -> Value? {
        let value: DatabaseValue = row[index]
        return Value.fromDatabaseValue(value)
    }

    private static func encode(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }
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
