internal import FoundationEssentials

/// A transfer as a row of a database. The definition and what changes are texts in JSON, beside the columns by which a
/// store looks for transfers.
package struct TransferColumns: Sendable {
    package var number: Int64
    package var id, definition, machine, result: String
    package var expiry: Int64
    package var worker: String?
    package var leaseEnd: Int64?

    package init(
        number: Int64, id: String, definition: String, machine: String, result: String, expiry: Int64,
        worker: String?, leaseEnd: Int64?
    ) {
        (self.number, self.id, self.definition, self.machine) = (number, id, definition, machine)
        (self.result, self.expiry, self.worker, self.leaseEnd) = (result, expiry, worker, leaseEnd)
    }
}

/// The columns of a new transfer. The store adds the columns that depend on its time.
package struct TransferAddition: Sendable, Encodable {
    package let id, definition: String
    /// The waiting time in milliseconds that the priority is worth.
    package let worth: Int64
    package let earliest: Int64?
    package let timeout: Int64
    package let host: String
    package let kind: Int64

    package init(_ transfer: TransferDescription) throws(BackgroundError) {
        id = transfer.id
        definition = try TransferColumns.text(transfer.definition)
        worth = transfer.definition.worth
        earliest = transfer.definition.earliest
        timeout = transfer.definition.timeout
        host = transfer.definition.host
        kind = transfer.definition.kind.number
    }

    /// The columns of all new transfers.
    package static func initialColumns() throws(BackgroundError) -> (machine: String, result: String) {
        (try TransferColumns.text(TaskMachine()), try TransferColumns.text(TransferResult()))
    }
}

/// The columns of a transfer that has changed.
package struct TransferChange: Sendable, Encodable {
    package let number: Int64
    package let machine, result: String
    package let state, readyAt, expiry: Int64
    package let worker: String?
    package let leaseEnd: Int64?

    package init(_ transfer: StoredTransfer) throws(BackgroundError) {
        number = transfer.number
        machine = try TransferColumns.text(transfer.machine)
        result = try TransferColumns.text(transfer.result)
        state = transfer.state.number
        readyAt = transfer.readyAt
        expiry = transfer.expiryTime
        worker = transfer.worker
        leaseEnd = transfer.leaseEnd
    }
}

extension TransferColumns {
    fileprivate static func text(_ value: some Encodable) throws(BackgroundError) -> String {
        do {
            return String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        } catch {
            throw .storage(error)
        }
    }
}

extension StoredTransfer {
    /// - Throws: ``BackgroundError/Code/storageFailed`` if another program has changed the row.
    package init(_ columns: TransferColumns) throws(BackgroundError) {
        func value<Value: Decodable>(_ text: String, _ type: Value.Type) throws(BackgroundError) -> Value {
            guard let value = try? JSONDecoder().decode(type, from: Data(text.utf8)) else {
                throw BackgroundError(
                    .storageFailed, "The row \(columns.number) of the store is not one of this version.")
            }
            return value
        }
        id = columns.id
        number = columns.number
        definition = try value(columns.definition, TransferDefinition.self)
        machine = try value(columns.machine, TaskMachine.self)
        result = try value(columns.result, TransferResult.self)
        expiryTime = columns.expiry
        worker = columns.worker
        leaseEnd = columns.leaseEnd
    }
}

extension BackgroundTask.State {
    /// The number in databases. The numbers of unfinished states are below the others.
    package var number: Int64 {
        switch self {
        case .waiting: 0
        case .running: 1
        case .paused: 2
        case .completed: 3
        case .failed: 4
        case .cancelled: 5
        }
    }

    package init?(number: Int64) {
        guard let state = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = state
    }
}
