/// What a call adds to the chain of its session.
struct CallChain: Sendable {
    /// Above the session's interceptors, the outermost first.
    var interceptors: [any Interceptor] = []
    /// After the session's adapters.
    var adapters: [any RequestAdapter] = []
    /// Before the session's retriers.
    var retriers: [any RequestRetrier] = []
    /// In place of the session's policy; nil for the session's.
    var retryPolicy: RetryPolicy?
}
