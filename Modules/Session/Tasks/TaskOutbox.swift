/// The news that a task's observers receive.
enum TaskNews<Output: Sendable>: Sendable {
    case state(TaskState)
    case progress(TaskProgress)
    case completed(Result<Output, SessionError>)
}

/// Keeps a task's news in order between the lock under which it is recorded and the observers, which are called outside it.
///
/// One thread at a time delivers the news, until the outbox is empty.
struct TaskOutbox<Output: Sendable> {
    typealias Observer = @Sendable (TaskNews<Output>) -> Void

    struct Delivery {
        let news: TaskNews<Output>
        let observers: [Observer]
        /// False for what a new observer has to catch up with.
        let hasJustHappened: Bool
    }

    private var observers: [(key: UInt64, observer: Observer)] = []
    private var waiting: [Delivery] = []
    private var isSending = false
    private var hasEnded = false

    var hasObservers: Bool { !observers.isEmpty }

    /// Adds news for all current observers. Nothing follows the end: observers are released once they received it.
    mutating func append(_ news: TaskNews<Output>) {
        waiting.append(Delivery(news: news, observers: observers.map(\.observer), hasJustHappened: true))
        guard case .completed = news else { return }
        hasEnded = true
        observers = []
    }

    /// Adds an observer, which first receives what is already known.
    mutating func add(_ observer: @escaping Observer, key: UInt64, hearing known: [TaskNews<Output>]) {
        if !hasEnded { observers.append((key, observer)) }
        for news in known {
            waiting.append(Delivery(news: news, observers: [observer], hasJustHappened: false))
        }
    }

    mutating func remove(_ key: UInt64) {
        observers.removeAll { $0.key == key }
    }

    /// Whether the caller is to send the news; false when there is none, or another thread is sending it.
    mutating func beginSending() -> Bool {
        guard !isSending, !waiting.isEmpty else { return false }
        isSending = true
        return true
    }

    /// What to send next; nil when all is sent, and the sender is done.
    mutating func next() -> Delivery? {
        guard !waiting.isEmpty else {
            isSending = false
            return nil
        }
        return waiting.removeFirst()
    }
}
