internal import LifetimeSupport
internal import Testing

extension Trait where Self == LeavesNothingAlive {
    /// Checks that a test's objects are gone at its end.
    static var leavesNothingAlive: Self { Self() }
}
