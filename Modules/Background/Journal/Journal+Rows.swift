internal import FoundationEssentials
internal import GRDB

/// The transactions of a journal, and the rows of its tasks.
extension Journal {
    /// Reads without a transaction, which takes longer: another process can change the journal between two statements.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(BackgroundError) -> Value {
        do { return try await queue.unsafeRead(body) } catch { throw .storage(error) }
    }

    /// Reads with statements that see the journal at one time.
    func readTogether<Value: Sendable>(
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

    static func nextRevision(_ database: Database) throws -> Int64 {
        try database.cachedStatement(sql: "UPDATE counter SET revision = revision + 1").execute()
        return try Int64.fetchOne(database.cachedStatement(sql: "SELECT revision FROM counter")) ?? 0
    }

    @discardableResult
    func apply(
        _ event: TaskMachine.Event, to id: BackgroundTask.ID, attempt: Int? = nil, at now: Int64, _ recreations: Int,
        result: TransferResult? = nil, _ database: Database
    ) throws -> TaskRecord? {
        guard let before = try record(id, database) else { return nil }
        if let attempt, before.machine.attempts != attempt { return before }
        var record = before
        let rules = record.definition.rules(recreations: recreations)
        guard record.machine.apply(event, at: now, rules) || result != nil else { return record }
        if let result { record.result = result }
        if case .retry = event { record.expiry = max(record.expiry, now + record.definition.timeout) }
        if record.machine.state.isEnd { record.isTold = false }
        try update(&record, from: before, at: now, database)
        return record
    }

    /// Writes the changes of a task.
    func update(
        _ record: inout TaskRecord, from before: TaskRecord, at now: Int64?, _ database: Database
    ) throws {
        record.revision = try Self.nextRevision(database)
        do {
            try database.cachedStatement(
                sql: """
                    UPDATE task SET machine = coalesce(?, machine), result = coalesce(?, result), state = ?, wish = ?,
                    readyAt = ?, expiry = ?, isTold = ?, changedAt = coalesce(?, changedAt), revision = ? WHERE id = ?
                    """
            ).execute(
                arguments: [
                    record.machine == before.machine ? nil : Self.encode(record.machine),
                    record.result == before.result ? nil : Self.encode(record.result), record.machine.state.number,
                    record.machine.wish == nil ? 0 : 1, record.readyAt, record.expiry, record.isTold ? 1 : 0, now,
                    record.revision, record.id.rawValue,
                ])
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw Self.destinationTaken(record.definition)
        }
        cache.store(record)
    }

    func record(_ id: BackgroundTask.ID, _ database: Database) throws -> TaskRecord? {
        try records("WHERE id = ?", [id.rawValue], database).first
    }

    func records(
        _ rest: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> [TaskRecord] {
        let statement = try database.cachedStatement(
            sql: "SELECT id, revision, isTold, expiry, definition, machine, result FROM task \(rest)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var records: [TaskRecord] = []
        while let row = try rows.next() { records.append(try record(row)) }
        return records
    }

    private func record(_ row: Row) throws -> TaskRecord {
        guard let id = Self.value(row, 0, Int64.self), let revision = Self.value(row, 1, Int64.self),
            let expiry = Self.value(row, 3, Int64.self)
        else { throw Self.damagedRow }
        let (task, isTold) = (BackgroundTask.ID(rawValue: id), Self.value(row, 2, Int64.self) == 1)
        if var record = cache.record(task, revision: revision) {
            record.isTold = isTold
            return record
        }
        let decoder = JSONDecoder()
        guard let definition = Self.value(row, 4, Data.self), let machine = Self.value(row, 5, Data.self),
            let result = Self.value(row, 6, Data.self),
            let definition = try? decoder.decode(TransferDefinition.self, from: definition),
            let machine = try? decoder.decode(TaskMachine.self, from: machine),
            let result = try? decoder.decode(TransferResult.self, from: result)
        else { throw Self.damagedRow }
        return TaskRecord(
            id: task, definition: definition, machine: machine, result: result, expiry: expiry, revision: revision,
            isTold: isTold)
    }

    private static var damagedRow: DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row of the journal is damaged")
    }

    /// The value of a column; nil if it has another type. GRDB's own conversions stop the program for that.
    static func value<Value: DatabaseValueConvertible>(
        _ row: Row, _ index: Int, _ type: Value.Type
    ) -> Value? {
        let value: DatabaseValue = row[index]
        return Value.fromDatabaseValue(value)
    }

    static func encode(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }
}
