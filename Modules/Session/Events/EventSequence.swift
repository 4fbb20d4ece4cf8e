internal import Synchronization

/// Events as they happen, for one reader.
///
/// The sequence begins when it is created, and buffers events until they are read. For a session or all sessions it keeps the
/// last 10,000 unread events; ``droppedCount`` counts the dropped ones. Cancelling the reader's task ends the iteration.
/// Dropping the sequence and its iterators ends the subscription.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// Never fails.
    public typealias Failure = Never

    private let subscription: EventSubscription<Element>

    /// - Parameter subscribe: Begins the subscription; the observation that it returns is cancelled at the end.
    init(
        coalescing: (@Sendable (_ waiting: Element, _ next: Element) -> Bool)? = nil, limit: Int = .max,
        _ subscribe: (EventBuffer<Element>) -> SessionObservation
    ) {
        let buffer = EventBuffer<Element>(coalescing: coalescing, limit: limit)
        subscription = EventSubscription(buffer: buffer, observation: subscribe(buffer))
    }

    /// How many events of a session or of all sessions are kept for a reader.
    static var limit: Int { 10_000 }

    /// How many events were dropped because they were not read in time.
    public var droppedCount: Int { subscription.buffer.droppedCount }

    /// Makes a reader; several of them share the events.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: subscription)
    }

    /// Reads events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: EventSubscription<Element>

        /// The next event; nil after the last, and when the reader's task is cancelled.
        public mutating func next() async -> Element? {
            await subscription.buffer.next()
        }

        /// The next event; nil after the last, and when the reader's task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await subscription.buffer.next()
        }
    }
}

private final class EventSubscription<Element: Sendable>: Sendable {
    let buffer: EventBuffer<Element>
    private let observation: SessionObservation

    init(buffer: EventBuffer<Element>, observation: SessionObservation) {
        self.buffer = buffer
        self.observation = observation
    }

    deinit {
        observation.cancel()
    }
}
