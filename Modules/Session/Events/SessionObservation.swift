internal import Synchronization

/// Stands for a function that a session or a task calls. Dropping it changes nothing; cancelling it ends the calls.
public final class SessionObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = Mutex(end)
    }

    /// Ends the calls. No call begins after this returns, unless one was on its way on another thread.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
