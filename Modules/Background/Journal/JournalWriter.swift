internal import GRDB
internal import Synchronization

/// Writes changes to the journal. Changes that arrive while a transaction is written share the next one, because each
/// transaction is synchronized to the disk, which takes as long for one change as for hundreds.
final class JournalWriter: Sendable {
    private struct Change: Sendable {
        let isDurable: Bool
        let perform: @Sendable (Database) throws -> Void
        let finish: @Sendable ((any Error)?) -> Void
    }

    private struct State {
        var waiting: [Change] = []
        var isScheduled = false
    }

    /// The largest number of changes in a transaction.
    private static let most = 1000

    private let queue: DatabaseQueue
    /// Forgets what undone changes have left in memory.
    private let undo: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ queue: DatabaseQueue, undo: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.undo = undo
    }

    /// Performs a change; the function returns when its transaction has ended. A change that throws is undone, and the
    /// others of the transaction are not: they are performed again if they have to be undone with it. A transaction
    /// without durable changes can be undone by a power failure, but not by the end of the process.
    func write<Value: Sendable>(
        durably: Bool, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let outcome = Outcome<Value>()
        return try await withCheckedThrowingContinuation { continuation in
            add(
                Change(isDurable: durably, perform: { outcome.set(try body($0)) }) { error in
                    let value = outcome.value
                    if let value, error == nil {
                        continuation.resume(returning: value)
                    } else {
                        continuation.resume(throwing: error ?? DatabaseError(resultCode: .SQLITE_ABORT))
                    }
                })
        }
    }

    private func add(_ change: Change) {
        let isFirst = state.withLock { state in
            state.waiting.append(change)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { schedule() }
    }

    private func schedule() {
        queue.asyncWriteWithoutTransaction { self.writeWaiting($0) }
    }

    private func writeWaiting(_ database: Database) {
        let changes = state.withLock { state in
            defer { state.waiting.removeFirst(min(Self.most, state.waiting.count)) }
            return Array(state.waiting.prefix(Self.most))
        }
        for (change, error) in zip(changes, errors(of: changes, in: database)) { change.finish(error) }
        let goesOn = state.withLock { state in
            state.isScheduled = !state.waiting.isEmpty
            return state.isScheduled
        }
        // Readers of the queue have their turn before.
        if goesOn { schedule() }
    }

    /// Writes changes in one transaction; returns the error of each.
    private func errors(of changes: [Change], in database: Database) -> [(any Error)?] {
        do {
            let isDurable = changes.contains { $0.isDurable }
            if !isDurable { try database.cachedStatement(sql: "PRAGMA synchronous = NORMAL").execute() }
            defer { if !isDurable { try? database.cachedStatement(sql: "PRAGMA synchronous = FULL").execute() } }
            // Whether a change has thrown, and not the transaction.
            var isOfChange = false
            do {
                try database.inTransaction(.immediate) {
                    for change in changes {
                        isOfChange = true
                        try change.perform(database)
                        isOfChange = false
                    }
                    return .commit
                }
                return [(any Error)?](repeating: nil, count: changes.count)
            } catch  where isOfChange && changes.count > 1 {
                undo()
                // A change throws rarely, and a savepoint for each takes as long as the changes.
                return try writeSeparately(changes, in: database)
            }
        } catch {
            undo()
            return [(any Error)?](repeating: error, count: changes.count)
        }
    }

    /// Writes changes in one transaction, of which those that throw are undone.
    private func writeSeparately(_ changes: [Change], in database: Database) throws -> [(any Error)?] {
        var errors = [(any Error)?](repeating: nil, count: changes.count)
        try database.inTransaction(.immediate) {
            for (index, change) in changes.enumerated() {
                do {
                    try database.inSavepoint {
                        try change.perform(database)
                        return .commit
                    }
                } catch {
                    // A full disk, for example, ends the whole transaction.
                    guard database.isInsideTransaction else { throw error }
                    undo()
                    errors[index] = error
                }
            }
            return .commit
        }
        return errors
    }
}

/// The value of a change, until its transaction has ended.
private final class Outcome<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? { state.withLock { $0 } }

    func set(_ value: Value) { state.withLock { $0 = value } }
}
