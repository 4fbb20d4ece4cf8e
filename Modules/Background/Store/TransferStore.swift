/// A queue of downloads and uploads that several workers share, in several processes or on several machines.
///
/// A program adds transfers by identifiers of its own. A ``TransferWorker`` leases them: the transfer is the worker's
/// until the lease ends, and the worker renews it while it transfers. A worker that was away for longer finds its lease
/// lost, because each lease has a fencing number, and the store takes results only for the last one. So each transfer
/// completes once in the store, and none is lost with a worker.
///
/// ``SQLiteTransferStore`` is for the processes of one machine, and `PostgresTransferStore` of LinnetBackgroundPostgres
/// is for many machines. All times are the store's: workers' clocks need not agree. The rules by which a transfer
/// changes are the library's, and both stores apply them in transactions; other conformances are not supported.
///
/// All functions throw ``BackgroundError`` with ``BackgroundError/Code/storageFailed``, and with
/// ``BackgroundError/Code/storeUnavailable`` if a server cannot be reached. A function that throws the latter may have
/// taken effect; all of them can be called again.
public protocol TransferStore: Sendable {
    /// Adds transfers, all or none. One whose identifier the store already has is left out, also if the transfer of
    /// that identifier is another or has ended, so the call can be repeated. When the function has returned, the
    /// transfers are as durable as the store.
    ///
    /// - Returns: The identifiers of the transfers that were added.
    @discardableResult
    func add(_ transfers: [TransferDescription]) async throws(BackgroundError) -> [String]

    /// Leases waiting transfers that may begin: those with the highest rank, which is the priority plus the time that a
    /// transfer has waited. Leases that have ended are taken from their workers before. A transfer is leased to one
    /// worker at a time.
    ///
    /// - Parameters:
    ///   - count: The maximum number of leases.
    ///   - worker: The name of the worker, for people.
    ///   - duration: The time after which the lease ends, unless it is renewed.
    ///   - room: The transfers that the worker has room for.
    func lease(
        _ count: Int, by worker: String, for duration: Duration, in room: TransferLease.Room
    ) async throws(BackgroundError) -> [TransferLease]

    /// Renews leases, and stores the progress of their transfers.
    ///
    /// - Parameters:
    ///   - renewals: The leases.
    ///   - duration: The time from now after which the leases end.
    /// - Returns: The status of each lease, in order.
    func renew(
        _ renewals: [TransferLease.Renewal], for duration: Duration
    ) async throws(BackgroundError) -> [TransferLease.Status]

    /// Ends a lease with the result of its transfer.
    ///
    /// - Returns: The transfer.
    /// - Throws: ``BackgroundError/Code/leaseLost`` if the lease had ended: the result does not count, and the transfer
    ///   is as it was. The end of a lease is known once the store has taken it away.
    @discardableResult
    func end(_ lease: TransferLease, with end: TransferLease.End) async throws(BackgroundError) -> StoredTransfer

    /// Pauses, resumes, cancels, retries or removes transfers. A control that the state of a transfer does not allow
    /// changes nothing. A leased transfer is paused or cancelled when its worker has stopped, or when its lease ends.
    ///
    /// - Returns: The identifiers of the transfers that the store had.
    @discardableResult
    func apply(_ control: TransferControl, to ids: [String]) async throws(BackgroundError) -> [String]

    /// Removes transfers that have ended, and have not changed for a time by the store's clock. A store keeps them
    /// until then, and does not add their identifiers again.
    ///
    /// - Returns: The number of removed transfers.
    @discardableResult
    func removeEnded(unchangedFor age: Duration) async throws(BackgroundError) -> Int

    /// The transfer with an identifier; nil if there is none.
    func transfer(_ id: String) async throws(BackgroundError) -> StoredTransfer?

    /// Transfers in the order in which they were added.
    ///
    /// - Parameters:
    ///   - states: Their states.
    ///   - last: The transfer after which the list begins; nil for the first ones.
    ///   - limit: Their maximum number.
    func transfers(
        in states: Set<BackgroundTask.State>, after last: StoredTransfer?, limit: Int
    ) async throws(BackgroundError) -> [StoredTransfer]

    /// The number of transfers in each state; a state without transfers may be missing.
    func counts() async throws(BackgroundError) -> [BackgroundTask.State: Int]

    /// The time until a worker can lease a transfer: zero if one waits that may begin, and otherwise the time until a
    /// wait or a lease ends; nil if there is nothing to wait for.
    ///
    /// - Parameter room: The transfers that the worker has room for.
    func timeUntilReady(in room: TransferLease.Room) async throws(BackgroundError) -> Duration?

    /// Tells that transfers were added, controlled or have ended since the last element was read; leases and progress
    /// are not told. An element can come without a change. The stream ends with the store.
    func changes() -> AsyncStream<Void>
}

extension TransferStore {
    /// Leases waiting transfers of any kind and host; see ``lease(_:by:for:in:)``.
    public func lease(
        _ count: Int, by worker: String, for duration: Duration
    ) async throws(BackgroundError) -> [TransferLease] {
        try await lease(count, by: worker, for: duration, in: TransferLease.Room())
    }

    /// The time until a worker can lease a transfer of any kind and host; see ``timeUntilReady(in:)``.
    public func timeUntilReady() async throws(BackgroundError) -> Duration? {
        try await timeUntilReady(in: TransferLease.Room())
    }
}

/// A request of a person or a program to transfers of a store.
public enum TransferControl: String, Sendable, Hashable, CaseIterable {
    /// Waits until the transfer is resumed.
    case pause
    /// Lets a paused transfer wait for its turn.
    case resume
    /// Ends the transfer.
    case cancel
    /// Begins a failed or cancelled transfer again, with new attempts and a new expiry; ends the wait of one that is
    /// repeated later.
    case retry
    /// Removes a transfer that has ended. Its identifier can be added again.
    case remove
}
