import HTTPTypes
import LinnetSerialization
import LinnetSession
import Synchronization

/// The rules of a token that is a number: each renewal adds one, once the test lets it end.
final class TokenIssuer: Authenticator {
    struct Failure: Error, Equatable {
        var number = 1
    }

    private struct State {
        var count = 0
        var running = 0
        var mostRunning = 0
        var cancellations = 0
        var applications = 0
        var judgements = 0
        var isOpen: Bool
        var waiters: [CheckedContinuation<Void, Never>] = []
        var failures = 0
        var stale: Set<Int> = []
    }

    private let state: Mutex<State>

    /// - Parameter isOpen: Whether renewals end at once.
    init(isOpen: Bool = true) {
        state = Mutex(State(isOpen: isOpen))
    }

    var count: Int { state.withLock(\.count) }
    var mostRunning: Int { state.withLock(\.mostRunning) }
    var cancellations: Int { state.withLock(\.cancellations) }

    /// The number of requests with a token.
    var applications: Int { state.withLock(\.applications) }
    /// The number of responses that were judged.
    var judgements: Int { state.withLock(\.judgements) }

    func fail(_ failures: Int = 1) { state.withLock { $0.failures = failures } }
    func expire(_ token: Int) { state.withLock { _ = $0.stale.insert(token) } }

    /// Lets the renewals end.
    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func apply(_ token: Int, to request: inout SessionRequest) {
        state.withLock { $0.applications += 1 }
        request.headerFields[.authorization] = "Bearer \(token)"
    }

    func isRefusal(_ response: HTTPResponse) -> Bool {
        state.withLock { $0.judgements += 1 }
        return response.status == .unauthorized
    }

    func needsRenewal(_ token: Int) -> Bool { state.withLock { $0.stale.contains(token) } }

    /// Ignores cancellation, like an issuer whose client does.
    func renew(_ token: Int?) async throws -> Int {
        state.withLock { state in
            state.count += 1
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiters.append(waiter) }
                    return state.isOpen
                }
                if isOpen { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.cancellations += 1 }
        }
        let fails = state.withLock { state in
            state.running -= 1
            guard state.failures > 0 else { return false }
            state.failures -= 1
            return true
        }
        if fails { throw Failure() }
        return (token ?? 0) + 1
    }
}
