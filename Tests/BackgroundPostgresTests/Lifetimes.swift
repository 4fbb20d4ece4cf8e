internal import LifetimeSupport
internal import Testing

extension Trait where Self == LeavesNothingAlive {
    /// Objects made in a test are released at its end.
    static var leavesNothingAlive: Self {
        // The session that all tests share must not be made in the first of them.
        _ = storedCalls
        return Self()
    }
}
