internal import LifetimeSupport
internal import Testing

extension Trait where Self == LeavesNothingAlive {
    /// Requires that all objects a test creates are released at its end.
    static var leavesNothingAlive: Self { Self() }
}
