/// An update that a task's observers receive.
enum TaskNews: Sendable {
    case state(TaskState)
    case progress(TaskProgress)
    case decided(TaskEvent.Decision)
    case completed(TaskDriver.Outcome)
}

/// Queues a task's updates in order: they are recorded under the task's lock, and observers are called outside it.
///
/// One thread at a time delivers the updates, until the outbox is empty.
struct TaskOutbox {
    typealias Observer = @Sendable (TaskNews) -> Void

    struct Delivery {
        let news: TaskNews
        let observers: [Observer]
        /// Whether the update is new; false for the current state that is replayed to a new observer.
        let hasJustHappened: Bool
    }

    private var observers: [(key: UInt64, observer: Observer)] = []
    /// The observers that learn of the completion alone.
    private var finalObservers: [(key: UInt64, observer: Observer)] = []
    private var waiting: [Delivery] = []
    private var isSending = false
    private var hasEnded = false

    /// Whether there are observers of more than the completion.
    var hasObservers: Bool { !observers.isEmpty }

    /// Adds an update for all current observers. No update follows the completion, after which the observers are
    /// released.
    mutating func append(_ news: TaskNews) {
        guard case .completed = news else {
            // The observers of this moment: one that is added before the delivery hears of the current state instead.
            waiting.append(Delivery(news: news, observers: observers.map { $0.observer }, hasJustHappened: true))
            return
        }
        waiting.append(Delivery(news: news, observers: allObservers.map { $0.observer }, hasJustHappened: true))
        hasEnded = true
        (observers, finalObservers) = ([], [])
    }

    /// All observers, in the order in which they were added.
    private var allObservers: [(key: UInt64, observer: Observer)] {
        if observers.isEmpty { return finalObservers }
        return finalObservers.isEmpty ? observers : (observers + finalObservers).sorted { $0.key < $1.key }
    }

    /// Adds an observer, which first receives the current state.
    mutating func add(_ observer: @escaping Observer, key: UInt64, hearing known: [TaskNews]) {
        if !hasEnded { observers.append((key, observer)) }
        for news in known {
            waiting.append(Delivery(news: news, observers: [observer], hasJustHappened: false))
        }
    }

    /// Adds an observer of the completion alone; at once, if the outcome is known.
    mutating func addFinal(_ observer: @escaping Observer, key: UInt64, hearing outcome: TaskNews?) {
        if !hasEnded { finalObservers.append((key, observer)) }
        if let outcome { waiting.append(Delivery(news: outcome, observers: [observer], hasJustHappened: false)) }
    }

    /// Removes an observer, and returns it, to be released after the lock.
    mutating func remove(_ key: UInt64) -> Observer? {
        if let place = observers.firstIndex(where: { $0.key == key }) { return observers.remove(at: place).observer }
        guard let place = finalObservers.firstIndex(where: { $0.key == key }) else { return nil }
        return finalObservers.remove(at: place).observer
    }

    /// Returns whether the caller must deliver the updates; false if there are none, or if another thread is delivering
    /// them.
    mutating func beginSending() -> Bool {
        guard !isSending, !waiting.isEmpty else { return false }
        isSending = true
        return true
    }

    /// Returns the next update to deliver; nil if none is left, which ends the caller's delivery.
    mutating func next() -> Delivery? {
        guard !waiting.isEmpty else {
            isSending = false
            return nil
        }
        return waiting.removeFirst()
    }
}
