internal import NIOCore

/// How many connections with the same key ended in a row before they served a request; the policy makes pauses of it. Pure.
///
/// It is forgotten when a connection serves a request, or after some time without another such end.
struct UselessConnections<Key: Hashable> {
    private struct Row {
        var count: Int
        var last: NIODeadline
    }

    /// After so long, a row counts no more.
    static var lifetime: TimeAmount { .seconds(2) }
    private static var fewestToSweep: Int { 64 }

    private var rows: [Key: Row] = [:]
    /// At how many the ones that count no more are looked for.
    private var mostUnswept = Self.fewestToSweep

    var isEmpty: Bool { rows.isEmpty }
    var count: Int { rows.count }

    /// A connection ended, or could not be opened, and had served nobody.
    mutating func add(_ key: Key, now: NIODeadline) {
        rows[key] = Row(count: length(key, now: now) + 1, last: now)
        guard rows.count >= mostUnswept else { return }
        rows = rows.filter { now - $0.value.last < Self.lifetime }
        mostUnswept = max(Self.fewestToSweep, 2 * rows.count)
    }

    /// A connection was of use.
    mutating func forget(_ key: Key) {
        rows[key] = nil
    }

    /// How many there were in a row.
    func length(_ key: Key, now: NIODeadline) -> Int {
        guard let row = rows[key], now - row.last < Self.lifetime else { return 0 }
        return row.count
    }
}
