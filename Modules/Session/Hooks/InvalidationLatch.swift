internal import Synchronization

/// Reports a session's invalidation once, when the session and all its requests have ended.
///
/// The session holds a share until its connections are closed, and each request holds one from its start until the
/// callback executor has its last hooks and callbacks.
final class InvalidationLatch: Sendable {
    private let shares = Atomic(1)
    private let hasSessionEnded = Atomic(false)
    private let hasTold = Atomic(false)
    private let executor: CallbackExecutor
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void, on executor: CallbackExecutor) {
        self.tell = tell
        self.executor = executor
    }

    /// Records that a request has started.
    func enter() {
        shares.add(1, ordering: .acquiringAndReleasing)
    }

    /// Records that the hooks and callbacks of a request's end were submitted.
    func leave() {
        guard shares.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        // Requests after the shutdown fail, and can enter and leave again.
        guard !hasTold.exchange(true, ordering: .acquiringAndReleasing) else { return }
        executor.execute(tell)
    }

    /// Records that the session's connections are closed. Only the first call has an effect.
    func sessionEnded() {
        if !hasSessionEnded.exchange(true, ordering: .acquiringAndReleasing) { leave() }
    }
}
