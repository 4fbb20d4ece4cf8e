internal import Synchronization

/// Buffers events until they are read. For a slow reader, its memory is bounded: an event can replace the unread one
/// before it, and at the limit the oldest event is dropped.
///
/// Several readers share the events: each event is delivered to one of them.
package final class EventBuffer<Element: Sendable>: Sendable {
    private struct State {
        var elements = RingBuffer<Element>()
        var droppedCount = 0
        var waiters = Waiters<Element?>()
        var isFinished = false
    }

    private let state = Mutex(State())
    private let coalescing: (@Sendable (Element, Element) -> Bool)?
    private let limit: Int

    /// - Parameters:
    ///   - coalescing: Whether an event replaces the unread one before it. The default keeps all events.
    ///   - limit: The maximum number of unread events. The default is no limit.
    package init(
        coalescing: (@Sendable (_ waiting: Element, _ next: Element) -> Bool)? = nil, limit: Int = .max
    ) {
        self.coalescing = coalescing
        self.limit = limit
    }

    /// The number of events that were dropped because the limit was reached.
    package var droppedCount: Int { state.withLock { $0.droppedCount } }

    package func append(_ element: Element) {
        take(element)?()
    }

    /// Appends an event, and returns what resumes its reader, if one waits. It is called without a lock, because a
    /// reader's executor can run it at once.
    package func take(_ element: Element) -> (() -> Void)? {
        var dropped: Element?
        let waiter = state.withLock { state -> Waiters<Element?>.Waiter? in
            guard !state.isFinished else { return nil }
            if let waiter = state.waiters.takeFirst() { return waiter }
            if let waiting = state.elements.last, let coalescing, coalescing(waiting, element) {
                dropped = waiting
                state.elements.removeLast()
            } else if state.elements.count >= limit {
                dropped = state.elements.popFirst()
                state.droppedCount += 1
            }
            state.elements.append(element)
            return nil
        }
        // Released after unlocking: an object that only the event holds may post another one when it is released.
        withExtendedLifetime(dropped) {}
        return waiter.map { waiter in { waiter.resume(returning: element) } }
    }

    /// Ends the events. Further ones are ignored.
    package func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// Returns the next event; nil after the last one, and if the task is cancelled.
    package func next() async -> Element? {
        await state.wait(in: { $1(&$0.waiters) }, ifCancelled: { nil }) { state -> Element?? in
            if let element = state.elements.popFirst() { return .some(element) }
            return state.isFinished ? .some(nil) : nil
        }
    }
}

/// A queue whose elements are added at one end and removed at both, in constant time.
struct RingBuffer<Element> {
    private var elements: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var last: Element? { count == 0 ? nil : elements[place(count - 1)] }

    mutating func append(_ element: Element) {
        if count == elements.count { grow() }
        elements[place(count)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        defer {
            elements[head] = nil
            head = place(1)
            count -= 1
        }
        return elements[head]
    }

    mutating func removeLast() {
        count -= 1
        elements[place(count)] = nil
    }

    private func place(_ offset: Int) -> Int { (head + offset) % elements.count }

    private mutating func grow() {
        let inOrder = Array(elements[head...] + elements[..<head])
        elements = inOrder + Array(repeating: nil, count: max(8, inOrder.count))
        head = 0
    }
}
