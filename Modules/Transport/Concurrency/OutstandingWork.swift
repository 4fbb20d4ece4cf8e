internal import Synchronization

/// Counts the users of something, for example the requests on event loops, so that it can be ended after them.
package final class OutstandingWork: Sendable {
    private let count = Atomic(0)
    private let isAwaited = Atomic(false)
    private let waiters = Mutex<[UnsafeContinuation<Void, Never>]>([])

    package init() {}

    package func begin() {
        count.add(1, ordering: .sequentiallyConsistent)
    }

    package func end() {
        let left = count.subtract(1, ordering: .sequentiallyConsistent).newValue
        if left == 0, isAwaited.load(ordering: .sequentiallyConsistent) { resumeWaiters() }
    }

    /// Returns when no request is left.
    package func drained() async {
        await withUnsafeContinuation { continuation in
            waiters.withLock { $0.append(continuation) }
            isAwaited.store(true, ordering: .sequentiallyConsistent)
            // The last request may have ended before the flag was set, without resuming waiters.
            if count.load(ordering: .sequentiallyConsistent) == 0 { resumeWaiters() }
        }
    }

    private func resumeWaiters() {
        let waiters = waiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
