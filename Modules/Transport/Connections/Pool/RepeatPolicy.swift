internal import NIOCore

/// Decides when the transport repeats a request on another connection, and how long it delays the next connection to an
/// origin after useless ones.
///
/// - A request that the server has certainly not processed is repeated up to ``mostRepeats`` times, whatever its
///   method; up to ``mostRepeatsBesideOthers`` times if the server processed other requests on the connections, as when
///   a busy server retires each connection after a few.
/// - A request that the server may have processed is repeated once, if it is idempotent (RFC 9110, 9.2.2), or has an
///   Idempotency-Key, and the connection had been idle before the request (RFC 9112, 9.3.1).
/// - A body that was started has to be replayable.
struct RepeatPolicy: Sendable {
    typealias Failure = TransportMetrics.Failure

    /// The maximum number of repeats of a request, and of attempts to reopen one connection.
    var mostRepeats = 5
    /// The maximum number of repeats after connections on which the server processed other requests.
    ///
    /// A repeated request keeps its place, so that each such connection brings it nearer to the first one. Servers
    /// allow at most about this many streams: by then the requests that shared the first connection have had their
    /// turn, even if each connection takes only one.
    var mostRepeatsBesideOthers = 128
    /// The first pause; each further one is twice as long.
    var firstPause = Duration.milliseconds(50)
    var longestPause = Duration.milliseconds(400)
    /// The random part of a pause, from 0 to 1, so that clients do not reconnect simultaneously.
    var jitter = 0.5

    /// Whether a request that failed like this may be repeated at all.
    static func permits(_ failure: Failure, isIdempotent: Bool, isReplayable: Bool) -> Bool {
        switch failure {
        // No byte of its body was requested.
        case .notConnected, .notSent: true
        case .notProcessed: isReplayable
        case .staleConnection: isReplayable && isIdempotent
        default: false
        }
    }

    /// Whether a permitted repeat takes place, given the failures of all attempts and the number of those on
    /// connections on which the server processed other requests.
    func sendsAgain(after failures: some Collection<Failure>, besideOthers: Int = 0) -> Bool {
        // Failures to open a connection are counted separately.
        let sent = failures.filter { $0 != .notConnected }
        // An automatic retry that failed, of a request that the server may have processed, is not retried (RFC 9110,
        // 9.2.2).
        return sent.count - besideOthers <= mostRepeats && besideOthers <= mostRepeatsBesideOthers
            && sent.count { $0 == .staleConnection } <= 1
    }

    /// Whether to open a connection again after this number of failures.
    func opensAgain(afterFailures failures: Int) -> Bool { failures <= mostRepeats }

    /// The pause before opening a connection after this number of useless ones in a row. The first one is replaced
    /// immediately, since a restarted server is available again.
    func pause(afterUseless count: Int, using random: inout some RandomNumberGenerator) -> Duration {
        guard count > 1 else { return .zero }
        var pause = firstPause
        // Bounded, since `where` skips the remaining turns instead of ending the loop.
        for _ in 2..<min(count, 64) where pause < longestPause { pause *= 2 }
        return min(pause, longestPause) * (1 - jitter * Double.random(in: 0...1, using: &random))
    }
}

/// Counts, for each key, consecutive connections that ended before they served a request; the policy derives pauses
/// from it. Pure.
///
/// The count is reset when a connection serves a request, or after some time without another one.
struct UselessConnections<Key: Hashable> {
    private struct Row {
        var count: Int
        var last: NIODeadline
    }

    /// The time after which a count is reset.
    static var lifetime: TimeAmount { .seconds(2) }
    private static var fewestToSweep: Int { 64 }

    private var rows: [Key: Row] = [:]
    /// The number of rows at which expired ones are removed.
    private var mostUnswept = Self.fewestToSweep

    var isEmpty: Bool { rows.isEmpty }
    var count: Int { rows.count }

    /// Records a connection that could not be opened or ended without serving a request.
    mutating func add(_ key: Key, now: NIODeadline) {
        rows[key] = Row(count: length(key, now: now) + 1, last: now)
        guard rows.count >= mostUnswept else { return }
        rows = rows.filter { now - $0.value.last < Self.lifetime }
        // Doubled, so that sweeping costs constant time for each row on average.
        mostUnswept = max(Self.fewestToSweep, 2 * rows.count)
    }

    /// Resets the count after a served request.
    mutating func forget(_ key: Key) {
        rows[key] = nil
    }

    /// The number of consecutive useless connections.
    func length(_ key: Key, now: NIODeadline) -> Int {
        guard let row = rows[key], now - row.last < Self.lifetime else { return 0 }
        return row.count
    }
}
