internal import Synchronization

/// Reports a session's end once, when the session and every request whose end is reported have ended.
///
/// The session itself holds a share until its connections are gone, and each request one from its start until its last
/// hooks and callbacks are on their way to the callback executor.
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

    /// A request begins.
    func enter() {
        shares.add(1, ordering: .acquiringAndReleasing)
    }

    /// What is to be told of a request's end is on its way.
    func leave() {
        guard shares.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        // Requests that come after the end fail, and are told of later.
        guard !hasTold.exchange(true, ordering: .acquiringAndReleasing) else { return }
        executor.execute(tell)
    }

    /// The session's connections are gone; only the first time counts.
    func sessionEnded() {
        if !hasSessionEnded.exchange(true, ordering: .acquiringAndReleasing) { leave() }
    }
}
