internal import FoundationEssentials
internal import GRDB

extension Journal {
    /// The number of tasks that are sorted.
    private static let few = 64

    /// The room that the session that transfers has.
    struct Room: Sendable {
        /// The number of tasks that may begin.
        var tasks: Int
        /// The maximum number of active tasks of each host, and those that are active.
        var tasksOfHost: Int
        var active: [String: Int]

        init(tasks: Int, tasksOfHost: Int, active: [String: Int]) {
            (self.tasks, self.tasksOfHost, self.active) = (tasks, tasksOfHost, active)
        }

        /// The room beside active tasks.
        ///
        /// - Parameters:
        ///   - most: The maximum number of tasks that are transferred.
        ///   - mostOfHost: The same for each host.
        ///   - hosts: The hosts of those that are transferred now.
        ///   - received: The number of active tasks whose bytes are all there. They need no connection, and may be as
        ///     many again.
        init(for most: Int, ofHost mostOfHost: Int, beside hosts: [String], received: Int) {
            let most = max(1, most)
            self.init(
                tasks: min(most, 2 * most - received) - hosts.count, tasksOfHost: max(1, mostOfHost),
                active: Dictionary(grouping: hosts) { $0 }.mapValues(\.count))
        }

        var fullHosts: [String] { active.filter { $0.value >= tasksOfHost }.keys.sorted() }
    }

    /// The news of the journal for the session that transfers.
    struct Turn: Sendable {
        /// The bandwidth limit of all tasks, and the limits of single running tasks.
        var bandwidthLimit: Int64?
        var bandwidthLimits: [BackgroundTask.ID: Int64] = [:]
        /// The running tasks with a wish, or past their expiry.
        var tasksToStop: Set<BackgroundTask.ID> = []
        /// The tasks that begin now, with the results of their attempts before.
        var started: [TaskRecord] = []
        /// Whether waiting tasks have expired.
        var hasExpired = false
        /// The time of the next change that no event announces: a wait or an expiry that ends; nil if there is none.
        var nextTime: Int64?
    }

    /// Begins tasks while there is room: the first in order that are due and whose hosts have room.
    ///
    /// It accesses the database once, because each access waits for the accesses of the transfers.
    func takeTurn(_ room: Room, at now: Int64, recreations: Int) async throws(BackgroundError) -> Turn {
        guard room.tasks > 0 else { return try await read { try self.news(of: $0, at: now) } }
        faults(.willStart)
        let turn = try await write(durably: false) { database in
            let started = try self.startNext(room, at: now, recreations, database)
            var turn = try self.news(of: database, at: now)
            turn.started = started
            return turn
        }
        if !turn.started.isEmpty { faults(.didStart) }
        return turn
    }

    private func startNext(
        _ room: Room, at now: Int64, _ recreations: Int, _ database: Database
    ) throws -> [TaskRecord] {
        var (room, started): (Room, [TaskRecord]) = (room, [])
        while started.count < room.tasks {
            let (full, wanted) = (room.fullHosts, room.tasks - started.count)
            let found = try due(wanted, without: full, at: now, database)
            for record in found where room.active[record.definition.host, default: 0] < room.tasksOfHost {
                room.active[record.definition.host, default: 0] += 1
                if let record = try start(record, at: now, recreations, database) { started.append(record) }
            }
            // Tasks of a host that has become full make room for those behind them.
            if found.count < wanted || room.fullHosts == full { break }
        }
        return started
    }

    /// The first tasks in order that are due and whose hosts are not full.
    private func due(
        _ limit: Int, without fullHosts: [String], at now: Int64, _ database: Database
    ) throws -> [TaskRecord] {
        // A few due tasks are sorted. If many are due, the first of them are near the beginning of the index, behind
        // tasks that are not due.
        let isMany =
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT 1 FROM task WHERE state = 0 AND readyAt <= ? LIMIT 1 OFFSET \(Self.few)"),
                arguments: [now]) != nil
        let index = isMany ? "taskToStart" : "taskReady"
        var (condition, arguments) = ("state = 0 AND readyAt <= ? AND expiry > ?", [now, now] as StatementArguments)
        if !fullHosts.isEmpty {
            condition += " AND host NOT IN (SELECT value FROM json_each(?))"
            arguments += [String(decoding: try JSONEncoder().encode(fullHosts), as: UTF8.self)]
        }
        arguments += [limit]
        return try records("INDEXED BY \(index) WHERE \(condition) ORDER BY rank, id LIMIT ?", arguments, database)
    }

    private func start(
        _ before: TaskRecord, at now: Int64, _ recreations: Int, _ database: Database
    ) throws -> TaskRecord? {
        cache.store(before)
        var result = before.result
        // A part of an earlier boot can have bytes that never reached the disk. The attempt cuts them off before it
        // writes the present boot: if it ends before, the next one must not trust them either.
        result.boot = result.boot ?? BootID.current
        var record = try apply(.start, to: before.id, at: now, recreations, result: result, database)
        record?.result = before.result
        return record
    }

    private func news(of database: Database, at now: Int64) throws -> Turn {
        func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
            try Int64.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
        }
        var turn = Turn()
        turn.bandwidthLimit = try number("SELECT value FROM setting WHERE name = 'bytesPerSecond'")
        for record in try records("WHERE state = 1", [], database) {
            if record.machine.wish != nil || record.expiry <= now { turn.tasksToStop.insert(record.id) }
            turn.bandwidthLimits[record.id] = record.definition.bytesPerSecond
        }
        let expiry = try number("SELECT min(expiry) FROM task WHERE state < 2")
        turn.hasExpired =
            try (expiry ?? .max) <= now
            && number("SELECT id FROM task WHERE state = 0 AND expiry <= ? LIMIT 1", [now]) != nil
        let ready = try number("SELECT min(readyAt) FROM task WHERE state = 0 AND readyAt > ?", [now])
        turn.nextTime = [ready, expiry].compactMap { $0 }.min()
        return turn
    }
}
