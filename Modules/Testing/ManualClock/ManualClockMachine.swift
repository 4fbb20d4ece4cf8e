/// Who sleeps on a ``ManualClock`` until when, and who waits for sleepers.
struct ManualClockMachine {
    typealias Continuation = CheckedContinuation<Void, any Error>

    /// Whom to wake once the lock is free.
    struct Wakeups {
        var due: [Continuation] = []
        var cancelled: [Continuation] = []
    }

    struct Sleeper {
        let id: UInt64
        let deadline: ManualClock.Instant
        let continuation: Continuation
    }

    struct Watcher {
        let id: UInt64
        let count: Int
        let continuation: Continuation
    }

    private(set) var now = ManualClock.Instant()
    /// Earliest deadline first; of equal ones, who came first.
    private(set) var sleepers: [Sleeper] = []
    private var watchers: [Watcher] = []
    private var lastID: UInt64 = 0

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func sleep(_ id: UInt64, until deadline: ManualClock.Instant, _ continuation: Continuation) -> Wakeups {
        guard deadline > now else { return Wakeups(due: [continuation]) }
        let place = sleepers.firstIndex { $0.deadline > deadline } ?? sleepers.endIndex
        sleepers.insert(Sleeper(id: id, deadline: deadline, continuation: continuation), at: place)
        let content = watchers.filter { $0.count <= sleepers.count }
        watchers.removeAll { $0.count <= sleepers.count }
        return Wakeups(due: content.map(\.continuation))
    }

    mutating func watch(_ id: UInt64, count: Int, _ continuation: Continuation) -> Wakeups {
        guard sleepers.count < count else { return Wakeups(due: [continuation]) }
        watchers.append(Watcher(id: id, count: count, continuation: continuation))
        return Wakeups()
    }

    mutating func advance(to instant: ManualClock.Instant) -> Wakeups {
        guard instant > now else { return Wakeups() }
        now = instant
        let due = sleepers.prefix { $0.deadline <= instant }
        sleepers.removeFirst(due.count)
        return Wakeups(due: due.map(\.continuation))
    }

    mutating func cancel(_ id: UInt64) -> Wakeups {
        if let index = sleepers.firstIndex(where: { $0.id == id }) {
            return Wakeups(cancelled: [sleepers.remove(at: index).continuation])
        }
        if let index = watchers.firstIndex(where: { $0.id == id }) {
            return Wakeups(cancelled: [watchers.remove(at: index).continuation])
        }
        return Wakeups()
    }
}
