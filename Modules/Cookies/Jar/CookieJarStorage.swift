internal import FoundationEssentials
internal import Synchronization

/// The state of a jar, shared with its sequences of changes.
final class CookieJarStorage: Sendable {
    private struct State {
        var table: CookieTable
        var subscribers = ChangeSubscribers()
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
            let result = body(&state.table, now)
            return (result, state.subscribers.append(state.table.takeChanges()))
        }
        for delivery in deliveries { delivery.perform() }
        return result
    }
}

// The subscribers.
extension CookieJarStorage {
    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    func subscribe() -> UInt64 { state.withLock { $0.subscribers.add() } }

    func unsubscribe(_ subscriber: UInt64) { state.withLock { $0.subscribers.remove(subscriber) } }

    func droppedCount(_ subscriber: UInt64) -> Int { state.withLock { $0.subscribers.droppedCount(subscriber) } }

    /// Ends the sequences when the jar is released.
    func finish() {
        let deliveries = state.withLock { $0.subscribers.finish() }
        for delivery in deliveries { delivery.perform() }
    }

    /// Returns the next change; nil after the last one, and if the task is cancelled.
    func next(_ subscriber: UInt64) async -> CookieJar.Change? {
        let reader = state.withLock { $0.subscribers.makeReader() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let delivery = state.withLock {
                    $0.subscribers.next(subscriber, reader, waiter, isCancelled: Task.isCancelled)
                }
                delivery?.perform()
            }
        } onCancel: {
            let delivery = state.withLock { $0.subscribers.cancel(subscriber, reader) }
            delivery?.perform()
        }
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
            return state.subscribers.append(state.table.takeChanges())
        }
        for delivery in deliveries { delivery.perform() }
    }
}
