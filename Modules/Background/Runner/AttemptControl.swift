internal import LinnetSession
internal import Synchronization

/// Stops an attempt from outside, before or after its request has begun, and slows it down.
final class AttemptControl: Sendable {
    private struct State {
        var isStopped = false
        var hasReceived = false
        var failure: BackgroundError?
        var stop: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    /// The task's own bandwidth limit.
    let bandwidth: Bandwidth

    init(bytesPerSecond: Int64? = nil) { bandwidth = Bandwidth(bytesPerSecond) }

    var isStopped: Bool { state.withLock { $0.isStopped } }
    /// The reason why the attempt ended itself.
    var failure: BackgroundError? { state.withLock { $0.failure } }

    /// Whether all bytes of a download are there, so that its connection is free for another.
    var hasReceived: Bool { state.withLock { $0.hasReceived } }

    func noteReceived() { state.withLock { $0.hasReceived = true } }

    /// Stops the attempt. It keeps its part.
    func stop() { end { $0.isStopped = true } }

    /// Stops the attempt because of a failure that its request does not know.
    func fail(_ error: BackgroundError) {
        end { state in
            if !state.isStopped, state.failure == nil { state.failure = error }
        }
    }

    /// Sets the function that stops the request; calls it at once if the attempt was stopped already.
    func setStop(_ stop: @escaping @Sendable () -> Void) {
        let (isEnded, former) = state.withLock { state in
            defer { state.stop = stop }
            return (state.isStopped || state.failure != nil, state.stop)
        }
        // Released after unlocking, with the task of an earlier request.
        withExtendedLifetime(former) {}
        if isEnded { stop() }
    }

    private func end(_ change: (inout State) -> Void) {
        let stop = state.withLock { state in
            change(&state)
            defer { state.stop = nil }
            return state.stop
        }
        stop?()
    }
}
