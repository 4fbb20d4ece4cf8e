/// How a connection has been used so far, and whether the server may have closed it before the request that comes next. Pure.
///
/// A connection that lies idle can be closed by the server at any moment, and the client hears of it too late (RFC 9112,
/// 9.3.1). It counts as stale from its first request after an idle time until the server answers one. One that was opened for
/// the request is fresh, and so it is for all those that share it from the start: if it ends under them, that was no idle
/// server.
struct ConnectionUse {
    private var exchanges = 0
    private var running = 0
    private var hasLainIdle = false
    private var mayBeStale = false
    /// How many times of use there were, each between two idle ones.
    private var period = 0
    /// Whether the server has answered a request on it.
    private(set) var hasServed = false

    /// Whether a request was put on it.
    var wasUsed: Bool { exchanges > 0 }

    /// A request is put on it.
    mutating func begin() -> (isReused: Bool, mayBeStale: Bool, period: Int) {
        if running == 0 {
            mayBeStale = exchanges > 0 || hasLainIdle
            period += 1
        }
        defer {
            exchanges += 1
            running += 1
        }
        return (exchanges > 0, mayBeStale, period)
    }

    /// The server has answered a request that was put on it in a time of use.
    mutating func responded(in period: Int) {
        hasServed = true
        if period == self.period { mayBeStale = false }
    }

    /// A request and its response are over.
    mutating func ended() {
        running = max(0, running - 1)
    }

    /// It waits for a request.
    mutating func layAside() {
        hasLainIdle = true
    }
}
