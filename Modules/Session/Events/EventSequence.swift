package import LinnetMessages

/// A live sequence of events, for one reader.
///
/// The subscription begins when the sequence is created, and events are buffered until they are read. For the events of
/// a session or of all sessions, the buffer keeps the last 10,000 unread events, and ``droppedCount`` counts the
/// dropped ones. Cancelling the reader's task ends the iteration. The subscription ends when the sequence and its
/// iterators are deallocated.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence never fails.
    public typealias Failure = Never

    private let subscription: EventSubscription<Element>

    /// - Parameters:
    ///   - coalescing: Whether an event replaces the unread one before it. The default keeps all events.
    ///   - limit: The maximum number of unread events. The default is no limit.
    ///   - subscribe: Begins the subscription, and returns an observation, which is cancelled at the end.
    package init(
        coalescing: (@Sendable (_ waiting: Element, _ next: Element) -> Bool)? = nil, limit: Int = .max,
        _ subscribe: (EventBuffer<Element>) -> SessionObservation
    ) {
        let buffer = EventBuffer<Element>(coalescing: coalescing, limit: limit)
        subscription = EventSubscription(buffer: buffer, observation: subscribe(buffer))
    }

    /// The maximum number of unread events of a session or of all sessions.
    package static var limit: Int { 10_000 }

    /// The number of events that were dropped because they were not read in time.
    public var droppedCount: Int { subscription.buffer.droppedCount }

    /// Creates a reader. Several readers share the events: each event is delivered to one of them.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: subscription)
    }

    /// Reads events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: EventSubscription<Element>

        /// Returns the next event; nil after the last one, and if the reader's task is cancelled.
        public mutating func next() async -> Element? {
            await subscription.buffer.next()
        }

        /// Returns the next event; nil after the last one, and if the reader's task is cancelled.
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
