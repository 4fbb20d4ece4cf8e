internal import Synchronization

/// The knowledge of an authenticator about a login beside the token in its store.
final class LoginMemory: Sendable {
    private struct State {
        /// Whether the store has had a user's token.
        var hasSeenLogin = false
        /// A token that could not be stored, and what the store has in its place.
        var unsaved: (token: OAuthToken, stored: OAuthToken?)?
    }

    private let state = Mutex(State())

    /// The token to use for the one in the store: it may be older than one that could not be stored.
    func present(for stored: OAuthToken?) -> OAuthToken? {
        state.withLock { state in
            if let stored, !stored.isForClient { state.hasSeenLogin = true }
            // Another program has changed the store since.
            if let unsaved = state.unsaved, unsaved.stored != stored { state.unsaved = nil }
            return state.unsaved?.token ?? stored
        }
    }

    /// Whether a login was in the store before.
    var hasSeenLogin: Bool { state.withLock(\.hasSeenLogin) }

    func didStore(_ token: OAuthToken) {
        state.withLock { state in
            if !token.isForClient { state.hasSeenLogin = true }
            state.unsaved = nil
        }
    }

    func didNotStore(_ token: OAuthToken, insteadOf stored: OAuthToken?) {
        state.withLock { $0.unsaved = (token, stored) }
    }
}
