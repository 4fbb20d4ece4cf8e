/// The current status, and then every change of it.
///
/// Each iteration is a subscription of its own, from the moment that its iterator is made. A newer status replaces one that
/// was not taken yet, so a slow reader skips to the newest, and no status comes twice in a row. The sequence ends when its
/// monitor stops or goes, or when the task is cancelled.
public struct ReachabilityStatuses: AsyncSequence, Sendable {
    /// What the sequence brings.
    public typealias Element = ReachabilityStatus
    /// The sequence does not fail.
    public typealias Failure = Never

    let hub: StatusHub

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator {
        let (current, changes) = hub.subscribe()
        return Iterator(current: current, changes: changes.makeAsyncIterator())
    }

    /// One subscription.
    public struct Iterator: AsyncIteratorProtocol {
        private var first: ReachabilityStatus?
        private var last: ReachabilityStatus
        private var changes: AsyncStream<ReachabilityStatus>.Iterator

        init(current: ReachabilityStatus, changes: AsyncStream<ReachabilityStatus>.Iterator) {
            first = current
            last = current
            self.changes = changes
        }

        /// The current status at first, then the next other one; nil at the end.
        public mutating func next() async -> ReachabilityStatus? {
            await next(isolation: #isolation)
        }

        /// The current status at first, then the next other one; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityStatus? {
            if let status = first {
                first = nil
                return status
            }
            // Where a status gave way to the one before it, the reader has seen no change.
            while let status = await changes.next(isolation: actor) {
                if status == last { continue }
                last = status
                return status
            }
            return nil
        }
    }
}
