internal import FoundationEssentials
internal import LinnetMessages
internal import Synchronization

/// The state of a jar, shared with its sequences of changes.
final class CookieJarStorage: Sendable {
    fileprivate struct State {
        var table: CookieTable
        var subscribers: [UInt64: EventBuffer<CookieJar.Change>] = [:]
        var lastKey: UInt64 = 0
        var synchronized = SynchronizedFile()
    }

    let configuration: CookieJar.Configuration
    private let state: Mutex<State>

    init(_ configuration: CookieJar.Configuration) {
        self.configuration = configuration
        state = Mutex(State(table: CookieTable(suffixes: configuration.publicSuffixes)))
    }

    var isEmpty: Bool { state.withLock { $0.table.count == 0 } }

    /// Reads or changes the table, and reports the changes to the subscribers in the order of their occurrence.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout CookieTable, Date) -> Result) -> Result {
        let now = configuration.now()
        let (result, deliveries) = state.withLock { state in
            (body(&state.table, now), state.takeChanges())
        }
        for deliver in deliveries { deliver() }
        return result
    }
}

// The subscribers.
extension CookieJarStorage {
    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// The largest number of unread changes of a subscriber. Each can hold a cookie of about 5 KB.
    private static var limit: Int { 1000 }

    func subscribe() -> (key: UInt64, changes: EventBuffer<CookieJar.Change>) {
        let buffer = EventBuffer<CookieJar.Change>(limit: Self.limit)
        return state.withLock { state in
            state.lastKey += 1
            state.subscribers[state.lastKey] = buffer
            return (state.lastKey, buffer)
        }
    }

    func unsubscribe(_ key: UInt64) { state.withLock { $0.subscribers[key] = nil } }

    /// Ends the sequences when the jar is released.
    func finish() {
        for buffer in state.withLock({ $0.subscribers }).values { buffer.finish() }
    }
}

extension CookieJarStorage.State {
    /// Adds the table's changes to the buffers, while the lock is held, so that each subscriber gets them in their
    /// order. Returns what resumes the readers.
    fileprivate mutating func takeChanges() -> [() -> Void] {
        let changes = table.takeChanges()
        guard !changes.isEmpty else { return [] }
        return subscribers.values.flatMap { buffer in changes.compactMap { buffer.take($0) } }
    }
}

// The file.
extension CookieJarStorage {
    /// The persistent cookies, and the contents of the file when the jar last read or wrote it.
    func snapshot(for path: String) -> (ours: [StoredCookie], base: [StoredCookie.Key: StoredCookie]) {
        let now = configuration.now()
        return state.withLock { state in
            (state.table.all(now: now).filter(\.isPersistent), state.synchronized.base(at: path))
        }
    }

    /// Takes over the cookies of a file, except where the jar has changed since the snapshot.
    func adopt(_ merged: [StoredCookie], instead ours: [StoredCookie], at path: String) {
        let now = configuration.now()
        let deliveries = state.withLock { state in
            state.synchronized = SynchronizedFile(path: path, cookies: merged)
            state.table.adopt(merged, instead: ours, now: now)
            return state.takeChanges()
        }
        for deliver in deliveries { deliver() }
    }
}
