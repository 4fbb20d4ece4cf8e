public import LinnetBackground

extension PostgresTransferStore {
    /// Adds transfers, all or none; see `TransferStore.add(_:)`.
    @discardableResult
    public func add(_ transfers: [TransferDescription]) async throws(BackgroundError) -> [String] {
        guard !transfers.isEmpty else { return [] }
        var additions: [TransferAddition] = []
        for transfer in transfers { additions.append(try TransferAddition(transfer)) }
        return try await transaction { [additions] table in
            let added = try table.insert(additions)
            if !added.isEmpty { try table.notify() }
            return added
        }
    }

    /// Leases transfers that may begin; see `TransferStore.lease(_:by:for:in:)`.
    public func lease(
        _ count: Int, by worker: String, for duration: Duration, in room: TransferLease.Room
    ) async throws(BackgroundError) -> [TransferLease] {
        let milliseconds = duration.milliseconds
        // If the answer is lost, the leases of the first try end by themselves.
        return try await transaction { table in
            let due = try table.lockDue()
            let lapsed = due.transfers.compactMap { transfer in
                var transfer = transfer
                return transfer.lapse(at: due.now) ? transfer : nil
            }
            try table.update(lapsed, at: due.now)
            var (room, leases): (TransferLease.Room, [TransferLease]) = (room, [])
            // Transfers of a host that has become full make room for those behind them.
            while leases.count < count {
                let (full, wanted) = (room.fullHosts, count - leases.count)
                let ready = try table.lockReady(wanted, room)
                var changed: [StoredTransfer] = []
                for var transfer in ready.transfers where room.take(transfer) {
                    guard let lease = transfer.lease(by: worker, for: milliseconds, at: ready.now) else { continue }
                    changed.append(transfer)
                    leases.append(lease)
                }
                try table.update(changed, at: ready.now)
                if ready.transfers.count < wanted || room.fullHosts == full { break }
            }
            return leases
        }
    }

    /// Renews leases; see `TransferStore.renew(_:for:)`.
    public func renew(
        _ renewals: [TransferLease.Renewal], for duration: Duration
    ) async throws(BackgroundError) -> [TransferLease.Status] {
        guard !renewals.isEmpty else { return [] }
        let milliseconds = duration.milliseconds
        return try await transaction { table in
            let (found, now) = try table.lock(numbers: renewals.map { $0.lease.transfer.number })
            var transfers = Dictionary(found.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
            var changed: Set<Int64> = []
            let statuses = renewals.map { renewal -> TransferLease.Status in
                let number = renewal.lease.transfer.number
                let state = transfers[number]?.state
                let status = transfers[number]?.renew(renewal, for: milliseconds, at: now) ?? .lost
                // A lost one has changed if it has expired.
                if status != .lost || transfers[number]?.state != state { changed.insert(number) }
                return status
            }
            try table.update(transfers.values.filter { changed.contains($0.number) }, at: now)
            return statuses
        }
    }

    /// Ends a lease; see `TransferStore.end(_:with:)`.
    @discardableResult
    public func end(_ lease: TransferLease, with end: TransferLease.End) async throws(BackgroundError) -> StoredTransfer
    {
        try await transaction { table in
            let (found, now) = try table.lock(numbers: [lease.transfer.number])
            guard var transfer = found.first else { throw BackgroundError.leaseLost(lease.transfer.id) }
            if try transfer.end(lease, with: end, at: now) {
                try table.update([transfer], at: now)
                try table.notify()
            }
            return transfer
        }
    }

    /// Controls transfers; see `TransferStore.apply(_:to:)`.
    @discardableResult
    public func apply(_ control: TransferControl, to ids: [String]) async throws(BackgroundError) -> [String] {
        guard !ids.isEmpty else { return [] }
        return try await transaction { table in
            var found: [String] = []
            for chunk in TransferTable.chunks(ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
                let (transfers, now) = try table.transfers(
                    "WHERE id IN (SELECT json_array_elements_text($1::json)) ORDER BY number FOR UPDATE",
                    [TransferTable.json(chunk)])
                var (changed, removed): ([StoredTransfer], [Int64]) = ([], [])
                for var transfer in transfers {
                    switch transfer.apply(control, at: now) {
                    case .none: break
                    case .changed: changed.append(transfer)
                    case .removed: removed.append(transfer.number)
                    }
                }
                try table.update(changed, at: now)
                try table.delete(numbers: removed)
                found += transfers.map(\.id)
            }
            if !found.isEmpty { try table.notify() }
            return found
        }
    }

    /// Removes transfers that have ended; see `TransferStore.removeEnded(unchangedFor:)`.
    @discardableResult
    public func removeEnded(unchangedFor age: Duration) async throws(BackgroundError) -> Int {
        let milliseconds = age.milliseconds
        var removed = 0
        while true {
            // A part at a time, so that each statement has time enough.
            let count = try await transaction { table in
                let count = try table.deleteEnded(unchangedFor: milliseconds)
                if count > 0 { try table.notify() }
                return count
            }
            removed += count
            if count == 0 { return removed }
        }
    }

    // MARK: Reading

    /// The transfer with an identifier; see `TransferStore.transfer(_:)`.
    public func transfer(_ id: String) async throws(BackgroundError) -> StoredTransfer? {
        try await read { try $0.transfers("WHERE id = $1", [id]).transfers.first }
    }

    /// Transfers in the order in which they were added; see `TransferStore.transfers(in:after:limit:)`.
    public func transfers(
        in states: Set<BackgroundTask.State>, after last: StoredTransfer?, limit: Int
    ) async throws(BackgroundError) -> [StoredTransfer] {
        let numbers = states.map { String($0.number) }.joined(separator: ", ")
        guard !numbers.isEmpty else { return [] }
        return try await read { table in
            try table.transfers(
                "WHERE number > $1::bigint AND state IN (\(numbers)) ORDER BY number LIMIT $2::bigint",
                [String(last?.number ?? 0), String(max(0, limit))]
            ).transfers
        }
    }

    /// The number of transfers in each state; see `TransferStore.counts()`.
    public func counts() async throws(BackgroundError) -> [BackgroundTask.State: Int] {
        try await read { table in
            var counts: [BackgroundTask.State: Int] = [:]
            for row in try table.counts() {
                guard let number = row[0].flatMap({ Int64($0) }), let state = BackgroundTask.State(number: number)
                else { continue }
                counts[state] = row[1].flatMap { Int($0) }
            }
            return counts
        }
    }

    /// The time until a worker can lease a transfer; see `TransferStore.timeUntilReady(in:)`.
    public func timeUntilReady(in room: TransferLease.Room) async throws(BackgroundError) -> Duration? {
        try await read { try $0.timeUntilReady(in: room) }.map { .milliseconds($0) }
    }
}
