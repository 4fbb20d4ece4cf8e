internal import LinnetSession
internal import Synchronization

/// The segments that wait for a request, and the workers that send the requests.
///
/// A server can refuse to answer so many requests at once. The worker of a refused one stops, and the others go on:
/// only the refusal of the last worker is the failure.
final class SegmentPool: Sendable {
    private struct State {
        var waiting: [Int]
        var workers: Int
        var failure: BackgroundError?
    }

    private let state: Mutex<State>

    /// Creates a pool with a worker for each segment.
    init(_ segments: [Int]) { state = Mutex(State(waiting: segments, workers: segments.count)) }

    /// The reason why segments are missing.
    var failure: BackgroundError? { state.withLock { $0.failure } }

    /// Takes the next segment; nil, which ends the worker, if there is none.
    func take() -> Int? {
        state.withLock { state in
            guard state.failure == nil, !state.waiting.isEmpty else {
                state.workers -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    /// Ends a worker whose segment failed; returns whether the others go on.
    func fail(_ segment: Int, _ error: BackgroundError) -> Bool {
        state.withLock { state in
            state.workers -= 1
            // A worker that goes on takes it later, when the server has fewer requests to answer.
            state.waiting.append(segment)
            let isRefusal =
                error.code == .transferFailed && ![.invalidResumeData, .cancelled].contains(error.sessionCode)
            if isRefusal, state.workers > 0, state.failure == nil { return true }
            state.failure = state.failure ?? error
            return false
        }
    }
}
