internal import Synchronization

/// The registration of an observer. Cancelling it ends the calls to the observer; deallocating it does not.
public final class SessionObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    package init(_ end: @escaping @Sendable () -> Void) {
        self.end = Mutex(end)
    }

    /// Ends the calls to the observer. A call that another thread has already begun can still run after this returns.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
