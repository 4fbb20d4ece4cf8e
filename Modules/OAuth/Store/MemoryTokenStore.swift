internal import LinnetMessages
internal import Synchronization

/// A ``TokenStore`` in memory, which ends with the process.
public final class MemoryTokenStore: TokenStore {
    private struct State {
        var token: OAuthToken?
        var isChanging = false
        var waiters = Waiters<Bool>()
    }

    private let state: Mutex<State>

    /// Creates a store.
    ///
    /// - Parameter token: The token at first. The default is none.
    public init(_ token: OAuthToken? = nil) {
        state = Mutex(State(token: token))
    }

    /// Returns the stored token; nil if there is none.
    public func token() -> OAuthToken? { state.withLock(\.token) }

    /// Changes the token, one caller at a time. A caller that is cancelled while it waits for others fails with
    /// ``OAuthError/Code/cancelled``.
    @discardableResult
    public func update(
        _ change: @escaping @Sendable (OAuthToken?) async throws -> OAuthToken?
    ) async throws -> OAuthToken? {
        let isMine = await state.wait(in: { $1(&$0.waiters) }, ifCancelled: { false }) { state -> Bool? in
            guard !state.isChanging else { return nil }
            state.isChanging = true
            return true
        }
        guard isMine else { throw OAuthError.cancelled }
        // A task of its own, because a refresh token that was sent must not be lost with its caller.
        return try await Task { [self] in
            defer { pass() }
            let new = try await change(token())
            state.withLock { $0.token = new }
            return new
        }.value
    }

    /// The number of callers that wait for others.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Lets the next caller change the token.
    private func pass() {
        let next = state.withLock { state in
            let next = state.waiters.takeFirst()
            state.isChanging = next != nil
            return next
        }
        next?.resume(returning: true)
    }
}
