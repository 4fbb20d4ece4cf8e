internal import NIOCore

/// By when those who wait want a connection. One timer serves all of them: cancelling one of many timers costs as much as
/// there are. Pure.
struct WaitDeadlines {
    private struct Due: Comparable {
        let time: NIODeadline
        let id: UInt64

        static func < (first: Due, second: Due) -> Bool {
            first.time == second.time ? first.id < second.id : first.time < second.time
        }
    }

    private var queue = RankedQueue<UInt64, Due>()
    /// For when the timer is set.
    private(set) var armed: NIODeadline?

    /// Adds one who waits; returns for when the timer has to be set now, if that is sooner than it is set for.
    mutating func add(_ id: UInt64, _ time: NIODeadline) -> NIODeadline? {
        queue.set(Due(time: time, id: id), of: id)
        guard time < armed ?? .distantFuture else { return nil }
        armed = time
        return time
    }

    /// One waits no more.
    mutating func remove(_ id: UInt64) {
        queue.remove(id)
    }

    /// The timer has fired: takes those who have waited for too long, and returns for when it has to be set again.
    mutating func expire(now: NIODeadline) -> (expired: [UInt64], next: NIODeadline?) {
        var expired: [UInt64] = []
        while let first = queue.first, first.rank.time <= now {
            expired.append(first.member)
            queue.remove(first.member)
        }
        armed = queue.first?.rank.time
        return (expired, armed)
    }
}
