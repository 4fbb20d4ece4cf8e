internal import LifetimeSupport
internal import Testing

extension Trait where Self == LeavesNothingAlive {
    /// What a test makes is gone at its end.
    static var leavesNothingAlive: Self { Self() }
}
