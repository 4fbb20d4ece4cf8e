internal import LinnetMessages

extension CookieJar {
    /// A change of a jar's cookies.
    public struct Change: Hashable, Sendable {
        /// The kind of a change.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// The name of the kind.
            public let description: String

            private init(_ description: String) { self.description = description }

            /// A new cookie was stored.
            public static let stored = Kind("stored")
            /// A cookie was stored in place of one with the same name, domain and path.
            public static let replaced = Kind("replaced")
            /// The program, the server or another process removed a cookie.
            public static let removed = Kind("removed")
            /// A cookie expired. Reported at the next use of the jar, not at the time of expiry.
            public static let expired = Kind("expired")
            /// A cookie was removed because the jar was full.
            public static let evicted = Kind("evicted")
        }

        /// The kind of the change.
        public let kind: Kind
        /// The cookie that was stored or removed.
        public let cookie: StoredCookie

        init(_ kind: Kind, _ cookie: StoredCookie) { (self.kind, self.cookie) = (kind, cookie) }
    }

    /// The changes from this moment, in the order in which they happen. Sending a cookie is not a change.
    ///
    /// Each sequence is a separate subscription.
    public var changes: Changes { Changes(storage) }

    /// The changes of a jar, for one reader.
    ///
    /// The subscription begins when the sequence is created. It keeps the last 1,000 unread changes; a slower reader
    /// loses the oldest, and ``droppedCount`` counts them. The sequence ends when the jar is released or the reader's
    /// task is cancelled. The subscription does not keep the jar alive.
    public struct Changes: AsyncSequence, Sendable {
        /// The sequence never fails.
        public typealias Failure = Never

        private let subscription: ChangeSubscription

        init(_ storage: CookieJarStorage) { subscription = ChangeSubscription(storage) }

        /// The number of changes that were dropped because they were not read in time.
        public var droppedCount: Int { subscription.buffer.droppedCount }

        /// Creates a reader. Several readers share the changes: each change is delivered to one of them.
        public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

        /// Reads changes.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let subscription: ChangeSubscription

            /// Returns the next change; nil after the last one, and if the reader's task is cancelled.
            public mutating func next() async -> Change? { await subscription.buffer.next() }

            /// Returns the next change; nil after the last one, and if the reader's task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
                await subscription.buffer.next()
            }
        }
    }
}

private final class ChangeSubscription: Sendable {
    private let storage: CookieJarStorage
    private let key: UInt64
    let buffer: EventBuffer<CookieJar.Change>

    init(_ storage: CookieJarStorage) {
        self.storage = storage
        (key, buffer) = storage.subscribe()
    }

    deinit { storage.unsubscribe(key) }
}
