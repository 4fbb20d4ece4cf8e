/// The subscribers to a jar's changes, as a state machine: its methods return the actions to perform without the lock.
struct ChangeSubscribers {
    typealias Waiter = CheckedContinuation<CookieJar.Change?, Never>

    /// A reader to resume after the lock is released.
    struct Delivery {
        let waiter: Waiter
        let change: CookieJar.Change?

        func perform() { waiter.resume(returning: change) }
    }

    private struct Subscriber {
        var unread = RingBuffer<CookieJar.Change>()
        var droppedCount = 0
        /// The readers in the order of their arrival.
        var waiters: [(reader: UInt64, waiter: Waiter)] = []
    }

    /// The largest number of unread changes of a subscriber. Each can hold a cookie of about 5 KB.
    static var limit: Int { 1000 }

    private var subscribers: [UInt64: Subscriber] = [:]
    private var lastKey: UInt64 = 0
    private var isFinished = false

    var count: Int { subscribers.count }

    mutating func add() -> UInt64 {
        lastKey += 1
        subscribers[lastKey] = Subscriber()
        return lastKey
    }

    mutating func makeReader() -> UInt64 {
        lastKey += 1
        return lastKey
    }

    mutating func remove(_ key: UInt64) { subscribers[key] = nil }

    func droppedCount(_ key: UInt64) -> Int { subscribers[key]?.droppedCount ?? 0 }

    mutating func append(_ changes: [CookieJar.Change]) -> [Delivery] {
        guard !changes.isEmpty, !subscribers.isEmpty else { return [] }
        var deliveries: [Delivery] = []
        for key in subscribers.keys {
            for change in changes {
                if subscribers[key]?.waiters.isEmpty == false, let first = subscribers[key]?.waiters.removeFirst() {
                    deliveries.append(Delivery(waiter: first.waiter, change: change))
                    continue
                }
                if subscribers[key]?.unread.append(change, limit: Self.limit) == true {
                    subscribers[key]?.droppedCount += 1
                }
            }
        }
        return deliveries
    }

    /// Gives a reader the next change, or makes it wait.
    mutating func next(_ key: UInt64, _ reader: UInt64, _ waiter: Waiter, isCancelled: Bool) -> Delivery? {
        if let change = subscribers[key]?.unread.popFirst() { return Delivery(waiter: waiter, change: change) }
        guard !isFinished, !isCancelled, subscribers[key] != nil else { return Delivery(waiter: waiter, change: nil) }
        subscribers[key]?.waiters.append((reader, waiter))
        return nil
    }

    mutating func cancel(_ key: UInt64, _ reader: UInt64) -> Delivery? {
        guard let index = subscribers[key]?.waiters.firstIndex(where: { $0.reader == reader }),
            let waiter = subscribers[key]?.waiters.remove(at: index).waiter
        else { return nil }
        return Delivery(waiter: waiter, change: nil)
    }

    mutating func finish() -> [Delivery] {
        isFinished = true
        var deliveries: [Delivery] = []
        for key in subscribers.keys {
            deliveries += (subscribers[key]?.waiters ?? []).map { Delivery(waiter: $0.waiter, change: nil) }
            subscribers[key]?.waiters = []
        }
        return deliveries
    }
}

/// A queue of bounded length that drops its oldest element when it is full.
struct RingBuffer<Element> {
    private var elements: [Element?] = []
    private var head = 0
    private(set) var count = 0

    /// Returns whether an element was dropped.
    mutating func append(_ element: Element, limit: Int) -> Bool {
        let isFull = count >= limit
        if isFull { _ = popFirst() }
        if count == elements.count { grow() }
        elements[(head + count) % elements.count] = element
        count += 1
        return isFull
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        defer {
            elements[head] = nil
            head = (head + 1) % elements.count
            count -= 1
        }
        return elements[head]
    }

    private mutating func grow() {
        let inOrder = Array(elements[head...] + elements[..<head])
        elements = inOrder + Array(repeating: nil, count: max(8, inOrder.count))
        head = 0
    }
}
