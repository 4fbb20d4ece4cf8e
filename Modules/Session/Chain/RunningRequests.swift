internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// The requests of a session that are on their way through the chain, and the session's end.
///
/// A graceful end waits for them before the transport is shut down, because redirects, credentials and retries may send
/// again. An immediate end also ends the waits between their attempts.
final class RunningRequests: Sendable {
    enum Stage: Int, Comparable {
        case open
        /// No request begins.
        case ending
        /// Running requests do not wait for another attempt.
        case aborted

        static func < (one: Stage, other: Stage) -> Bool { one.rawValue < other.rawValue }
    }

    private struct State {
        var stage = Stage.open
        var waiters = Waiters<Void>()
    }

    private let work = OutstandingWork()
    private let isRefusing = Atomic(false)
    private let state = Mutex(State())

    /// Records that a request begins. Throws `shutDown` if no request may begin.
    func begin(_ url: URL) throws(SessionError) {
        // In this order, so that the session's end sees the request, or the request sees the end.
        work.begin()
        guard hasEnded else { return }
        work.end()
        throw .shutDown(url)
    }

    /// Whether no request begins any more.
    var hasEnded: Bool { isRefusing.load(ordering: .sequentiallyConsistent) }

    /// Records that a request has ended, or has handed over its body.
    func end() {
        work.end()
    }

    /// Fails every request that begins after this call.
    func refuse(_ mode: ShutdownMode) {
        isRefusing.store(true, ordering: .sequentiallyConsistent)
        let waiters = state.withLock { state in
            state.stage = max(state.stage, mode == .immediate ? .aborted : .ending)
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until no request runs.
    func drained() async {
        await work.drained()
    }

    /// Waits for a time, or until the session's end has reached a stage.
    ///
    /// - Throws: `shutDown` at that stage, and `cancelled` if the task was cancelled.
    func sleep(
        for time: Duration, by clock: any Clock<Duration>, until stage: Stage = .aborted, _ url: URL?
    ) async throws(SessionError) {
        try await wait(until: stage, url) { () async throws(SessionError) in
            do {
                try await clock.sleepUntilCancelled(for: time)
            } catch {
                throw .cancelled(url)
            }
        }
    }

    /// Performs a wait that others end, or stops it when the session's end has reached a stage.
    ///
    /// - Throws: The operation's error, or `shutDown` at that stage.
    func wait<Value: Sendable>(
        until stage: Stage = .aborted, _ url: URL?,
        for operation: @escaping @Sendable () async throws(SessionError) -> Value
    ) async throws(SessionError) -> Value {
        let outcome: Result<Value, SessionError> = await withTaskGroup(of: Result<Value, SessionError>?.self) { group in
            group.addTask { await Result(operation) }
            group.addTask {
                guard await self.reached(stage) else { return nil }
                return .failure(.shutDown(url))
            }
            defer { group.cancelAll() }
            while let outcome = await group.next() {
                if let outcome { return outcome }
            }
            return .failure(.cancelled(url))
        }
        return try outcome.get()
    }

    /// Waits for a stage. Returns false if the task was cancelled before.
    private func reached(_ stage: Stage) async -> Bool {
        // The waiters for all stages are resumed together.
        while !Task.isCancelled {
            if state.withLock({ $0.stage >= stage }) { return true }
            await state.wait(in: { $1(&$0.waiters) }, ifCancelled: {}) { $0.stage >= stage ? () : nil }
        }
        return false
    }
}
