/// A place for one token.
///
/// A store excludes concurrent changes: of two programs that renew a rotated refresh token at the same time, one would
/// lose the user's login. ``memory`` keeps the token in the process, ``FileTokenStore`` in a file that processes share.
public protocol TokenStore: Sendable {
    /// Returns the stored token; nil if there is none.
    func token() async throws -> OAuthToken?

    /// Changes the token, while no other task and no other process that uses the store does.
    ///
    /// - Parameter change: Returns the new token for the stored one; nil removes it. An error leaves the stored token.
    ///   It is called once at most, and is not cancelled with the task of the caller. It must not change the store by
    ///   another call, which would wait for it forever.
    /// - Returns: The new token.
    @discardableResult
    func update(_ change: @escaping @Sendable (OAuthToken?) async throws -> OAuthToken?) async throws -> OAuthToken?
}

extension TokenStore {
    /// Replaces the token, for example after a login; nil removes it.
    public func replace(with token: OAuthToken?) async throws {
        try await update { _ in token }
    }
}

extension TokenStore where Self == MemoryTokenStore {
    /// A new store in memory.
    public static var memory: MemoryTokenStore { MemoryTokenStore() }
}
