internal import LinnetCache
internal import Synchronization

/// The keys that requests have invalidated (RFC 9111, section 4.4). A response to an earlier request is not stored,
/// because it may show the state before the change. The store ends entries that were begun.
final class CacheInvalidations: Sendable {
    /// Older keys count as invalidated for all running requests.
    private static let mostKeys = 1024

    private struct State {
        var times: [CacheKey: UInt64] = [:]
        /// The time until which all keys count as invalidated.
        var forgotten: UInt64 = 0
    }

    private let time = Atomic<UInt64>(0)
    private let state = Mutex(State())

    /// The number of invalidations so far.
    var count: UInt64 { time.load(ordering: .acquiring) }

    func add(_ keys: [CacheKey]) {
        state.withLock { state in
            let now = time.add(1, ordering: .acquiringAndReleasing).newValue
            if state.times.count + keys.count > Self.mostKeys {
                state.times = [:]
                state.forgotten = now
            }
            for key in keys { state.times[key] = now }
        }
    }

    /// Whether a key was invalidated after this number of invalidations.
    func include(_ key: CacheKey, since count: UInt64) -> Bool {
        // Usually nothing was invalidated meanwhile, and the lock is not needed.
        guard self.count != count else { return false }
        return state.withLock { max($0.forgotten, $0.times[key] ?? 0) > count }
    }
}
