internal import Synchronization

/// Counts the requests that still need the event loops, so that these are not ended under them.
final class OutstandingWork: Sendable {
    private let count = Atomic(0)
    private let isAwaited = Atomic(false)
    private let waiters = Mutex<[UnsafeContinuation<Void, Never>]>([])

    func begin() {
        count.add(1, ordering: .relaxed)
    }

    func end() {
        let left = count.subtract(1, ordering: .sequentiallyConsistent).newValue
        if left == 0, isAwaited.load(ordering: .sequentiallyConsistent) { resumeWaiters() }
    }

    /// Returns when nothing is left.
    func drained() async {
        await withUnsafeContinuation { continuation in
            waiters.withLock { $0.append(continuation) }
            isAwaited.store(true, ordering: .sequentiallyConsistent)
            // Whoever ended the last one before has not seen anybody wait.
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
