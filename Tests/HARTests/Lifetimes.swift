internal import LifetimeSupport
internal import Testing

extension Trait where Self == LeavesNothingAlive {
    /// Objects made in a test are released at its end.
    static var leavesNothingAlive: Self { Self() }
}
