public import LinnetOAuth

/// A `TokenStore` in the desktop's Secret Service, such as GNOME Keyring, KWallet or KeePassXC, with libsecret.
///
/// ```swift
/// let store = try SecretServiceTokenStore("my-program", account: "finch@example.com")
/// ```
/// The token is an item of the user's default collection, which the service encrypts on the disk. A collection that is
/// locked is unlocked first: the service asks the user for the password, and the access waits for that, up to the
/// ``timeout``. It waits on a thread of the library's own, which makes one access after the other.
///
/// A service that starts, or starts again, is found. When the message bus itself ends, which happens at the end of the
/// user's session, accesses of the process fail with `tokenStoreUnavailable` from then on.
///
/// The service has no lock that programs share. A change holds one on a file in the user's folder for state
/// (`XDG_STATE_HOME`), which contains no secret, and which the kernel releases when the process ends.
public struct SecretServiceTokenStore: TokenStore {
    /// The name of the program, which the user sees.
    public let service: String
    /// Distinguishes the tokens of a program.
    public let account: String
    /// The longest time for one access to the service, with its question to the user. The default is 60 seconds.
    /// Exceeding it is `timeout`.
    public let timeout: Duration

    private let lockPath: String
    private var item: SecretItem { SecretItem(service: service, account: account) }

    /// Connects to no service yet.
    ///
    /// - Parameters:
    ///   - service: The name of the program.
    ///   - account: Distinguishes the tokens of a program, for example by the user at the issuer. The default is empty.
    ///   - timeout: The longest time for one access to the service. The default is 60 seconds, so that the user has the
    ///     time to enter a password.
    /// - Throws: An `OAuthError` with the code `invalidConfiguration` if the name of the program is empty, a text
    ///   contains U+0000 or has more than 1024 bytes, the timeout is not positive, or the folder for state is unknown.
    public init(_ service: String, account: String = "", timeout: Duration = .seconds(60)) throws(OAuthError) {
        try self.init(service, account: account, timeout: timeout, lockPath: SecretItem.lockPath(service, account))
    }

    init(_ service: String, account: String, timeout: Duration, lockPath: String?) throws(OAuthError) {
        guard !service.isEmpty, timeout > .zero else {
            throw OAuthError(.invalidConfiguration, "A token in the Secret Service needs a program's name and a time.")
        }
        for text in [service, account] where text.utf8.contains(0) || text.utf8.count > 1024 {
            throw OAuthError(
                .invalidConfiguration,
                "The names of a token in the Secret Service have at most 1024 bytes, and no U+0000.")
        }
        guard let lockPath else {
            throw OAuthError(
                .invalidConfiguration,
                "A token in the Secret Service needs XDG_STATE_HOME or the home directory, and neither is known.")
        }
        self.service = service
        self.account = account
        self.timeout = timeout
        self.lockPath = lockPath
    }

    /// Reads the token; nil if there is none.
    ///
    /// - Throws: An `OAuthError`: `tokenStoreUnavailable` without a service, `tokenStoreLocked` if the user did not
    ///   unlock it, `damagedTokenFile` if the item is no token, `timeout`, `cancelled`, and `tokenStoreFailed`.
    public func token() async throws -> OAuthToken? {
        try await SecretServiceThread.perform(within: timeout) { [item] stop throws(OAuthError) in try item.read(stop) }
    }

    /// Changes the token, while no other task and no other process of the user changes it.
    ///
    /// Waiting for the lock blocks no thread, and ends with the cancellation of the caller. The collection is unlocked
    /// before `change` is called.
    ///
    /// - Throws: An `OAuthError` with the codes of ``token()``, or the error of `change`.
    @discardableResult
    public func update(
        _ change: @escaping @Sendable (OAuthToken?) async throws -> OAuthToken?
    ) async throws -> OAuthToken? {
        let lock = try await TokenLock.take(beside: lockPath)
        // A task of its own, because a refresh token that was sent must not be lost with its caller.
        return try await Task { [item, timeout] in
            defer { lock.release() }
            let stored = try await SecretServiceThread.perform(within: timeout) { stop throws(OAuthError) in
                try item.read(stop)
            }
            let new = try await change(stored)
            if new != stored {
                try await SecretServiceThread.perform(within: timeout) { stop throws(OAuthError) in
                    try item.write(new, stop)
                }
            }
            return new
        }.value
    }
}

extension TokenStore where Self == SecretServiceTokenStore {
    /// A store in the desktop's Secret Service; see ``SecretServiceTokenStore``.
    ///
    /// - Parameters:
    ///   - service: The name of the program.
    ///   - account: Distinguishes the tokens of a program. The default is empty.
    /// - Throws: An `OAuthError` with the code `invalidConfiguration` if a name is not possible.
    public static func secretService(
        _ service: String, account: String = ""
    ) throws(OAuthError) -> SecretServiceTokenStore {
        try SecretServiceTokenStore(service, account: account)
    }
}
