import LinnetBackground
import LinnetTesting
import Synchronization
import Testing

/// A store whose renewals do not arrive, or arrive and are held back.
struct DeafStore: TransferStore {
    /// The renewals that arrive, the first one held back, and the looks for transfers.
    final class Renewals: Sendable {
        private let state = Mutex((isHeld: false, passes: 0))
        let goOn = Signal()

        var isHeld: Bool { state.withLock { $0.isHeld } }
        var passes: Int { state.withLock { $0.passes } }

        func pass() { state.withLock { $0.passes += 1 } }

        func hold() async {
            let isFirst = state.withLock { state in
                defer { state.isHeld = true }
                return !state.isHeld
            }
            if isFirst { await goOn.wait() }
        }
    }

    let base: any TransferStore
    /// Nil if renewals do not arrive.
    var renewals: Renewals?
    /// Whether renewals arrive again, and are not held back.
    var hears: @Sendable () -> Bool = { false }

    func renew(
        _ renewals: [TransferLease.Renewal], for duration: Duration
    ) async throws(BackgroundError) -> [TransferLease.Status] {
        if hears() { return try await base.renew(renewals, for: duration) }
        guard let held = self.renewals else { return renewals.map { _ in .held } }
        let statuses = try await base.renew(renewals, for: duration)
        await held.hold()
        return statuses
    }

    func add(_ transfers: [TransferDescription]) async throws(BackgroundError) -> [String] {
        try await base.add(transfers)
    }
    func lease(
        _ count: Int, by worker: String, for duration: Duration, in room: TransferLease.Room
    ) async throws(BackgroundError) -> [TransferLease] {
        try await base.lease(count, by: worker, for: duration, in: room)
    }
    func end(_ lease: TransferLease, with end: TransferLease.End) async throws(BackgroundError) -> StoredTransfer {
        try await base.end(lease, with: end)
    }
    func apply(_ control: TransferControl, to ids: [String]) async throws(BackgroundError) -> [String] {
        try await base.apply(control, to: ids)
    }
    func removeEnded(unchangedFor age: Duration) async throws(BackgroundError) -> Int {
        try await base.removeEnded(unchangedFor: age)
    }
    func transfer(_ id: String) async throws(BackgroundError) -> StoredTransfer? { try await base.transfer(id) }
    func transfers(
        in states: Set<BackgroundTask.State>, after last: StoredTransfer?, limit: Int
    ) async throws(BackgroundError) -> [StoredTransfer] {
        try await base.transfers(in: states, after: last, limit: limit)
    }
    func counts() async throws(BackgroundError) -> [BackgroundTask.State: Int] { try await base.counts() }
    func timeUntilReady(in room: TransferLease.Room) async throws(BackgroundError) -> Duration? {
        renewals?.pass()
        return try await base.timeUntilReady(in: room)
    }
    func changes() -> AsyncStream<Void> { base.changes() }
}
