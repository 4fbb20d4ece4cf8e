internal import Synchronization

/// The registration of an observer with a session or a task. Cancelling it ends the calls; dropping it does not.
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
