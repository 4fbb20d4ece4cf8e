public import FoundationEssentials
internal import LinnetTransport

/// A ``TokenStore`` in a file, which the processes of a user share.
///
/// ```swift
/// let store = try FileTokenStore(URL(filePath: "/home/me/.local/state/my-program/token.json"))
/// ```
/// The file has the mode 0600, and contains the token in clear text. A change holds a lock on a file beside it, with
/// the suffix `.lock`, which stays; the kernel releases the lock of a process that ends. The file is replaced as a
/// whole and written to the disk, so that it has the old or the new token after a power failure. Missing folders are
/// made with the mode 0700.
///
/// A file that belongs to another user, can be used by others, or is not a regular file, fails with
/// ``OAuthError/Code/untrustedTokenFile``, and a damaged one with ``OAuthError/Code/damagedTokenFile``. Neither is
/// overwritten: remove it to log in again.
public struct FileTokenStore: TokenStore {
    /// The file.
    public let file: URL

    private let tokenFile: TokenFile

    /// Opens no file yet.
    ///
    /// - Throws: An ``OAuthError`` with ``OAuthError/Code/invalidConfiguration`` unless the URL is a file URL, or if
    ///   its path contains U+0000.
    public init(_ file: URL) throws(OAuthError) {
        guard file.isFileURL, !file.path.isEmpty, !file.hasDirectoryPath else {
            throw OAuthError(.invalidConfiguration, "A token is stored in a file, and the URL is not a file URL.")
        }
        // The system would end the path there, and use another file.
        guard !file.absoluteString.contains("%00"), !file.absoluteURL.path.utf8.contains(0) else {
            throw OAuthError(.invalidConfiguration, "The path of a token file cannot contain U+0000.")
        }
        self.file = file
        tokenFile = TokenFile(path: file.absoluteURL.path)
    }

    /// Reads the token; nil if there is no file.
    ///
    /// - Throws: An ``OAuthError`` with the codes of the type.
    public func token() async throws -> OAuthToken? {
        try await onFileThreads { [tokenFile] in try tokenFile.read() }
    }

    /// Changes the token, while no other task and no other process changes it.
    ///
    /// Waiting for the lock blocks no thread, and ends with the cancellation of the caller. The file is checked, and
    /// its successor created, before `change` is called.
    ///
    /// - Throws: An ``OAuthError`` with the codes of the type, or with ``OAuthError/Code/tokenStoreFailed`` if the file
    ///   cannot be written; or the error of `change`.
    @discardableResult
    public func update(
        _ change: @escaping @Sendable (OAuthToken?) async throws -> OAuthToken?
    ) async throws -> OAuthToken? {
        let lock = try await TokenLock.take(beside: tokenFile.path)
        // A task of its own, because a refresh token that was sent must not be lost with its caller.
        return try await Task { [tokenFile] in
            defer { lock.release() }
            let (stored, successor) = try await onFileThreads {
                (try tokenFile.read(), try tokenFile.makeSuccessor())
            }
            let new: OAuthToken?
            do {
                new = try await change(stored)
            } catch {
                successor.discard()
                throw error
            }
            try await onFileThreads {
                if new == stored {
                    successor.discard()
                } else if let new {
                    try successor.replace(with: new)
                } else {
                    successor.discard()
                    try tokenFile.remove()
                }
            }
            return new
        }.value
    }
}

/// Runs a blocking operation on the threads for files.
@concurrent
func onFileThreads<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(FileExecutor.shared) { try body() }
}
