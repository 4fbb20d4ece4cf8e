internal import FoundationEssentials
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The directory of a background session, and the names of its files. All functions block.
struct BackgroundFolder: Sendable {
    let path: String

    var journal: String { path + "/journal.sqlite" }
    var lock: String { path + "/lock" }
    /// The pipe that tells the end of the session that transfers.
    var gate: String { path + "/gate" }
    var parts: String { path + "/parts" }
    /// The sockets of the open sessions.
    var sockets: String { path + "/sockets" }

    init(_ directory: URL) throws(BackgroundError) {
        guard directory.isFileURL else {
            throw BackgroundError(
                .untrustedDirectory, "A background session is kept in a directory; the URL is no file's.")
        }
        let path = directory.absoluteURL.path
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Creates the missing directories, and checks that only this user can change their contents.
    ///
    /// - Parameter others: More directories inside.
    func prepare(with others: [String] = []) throws(BackgroundError) {
        do throws(PrivateFolder.Problem) {
            for folder in [path, parts, sockets] + others { try PrivateFolder.prepare(folder) }
        } catch {
            switch error {
            case .untrusted(let message): throw BackgroundError(.untrustedDirectory, message)
            case .failed(let failure): throw BackgroundError(.storageFailed, "\(failure)", underlying: failure)
            }
        }
        try Gate.make(self)
    }

    /// Creates the file of the journal, which only its owner can read. SQLite gives its other files the same
    /// permissions.
    func makeJournal() throws(BackgroundError) {
        // An existing file is not opened: closing any descriptor of it would release the locks that SQLite holds on it
        // in this process (POSIX, fcntl).
        let descriptor = SystemCall.retrying {
            open(journal, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw .failedCall(journal, "cannot be created")
        }
    }
}

extension BackgroundFolder {
    /// The directory of a session by its identifier: `$XDG_STATE_HOME/linnet/background/IDENTIFIER`, by default below
    /// `~/.local/state` (XDG Base Directory Specification).
    static func directory(
        of identifier: String, in directories: BaseDirectories = .current
    ) throws(BackgroundError) -> URL {
        guard BaseDirectories.isName(identifier) else {
            throw BackgroundError(
                .invalidIdentifier,
                "\"\(identifier)\" cannot be the identifier of a background session: use 1 to 255 bytes without separators, "
                    + "not beginning with a full stop.")
        }
        guard let base = directories.path(.state) else {
            throw BackgroundError(
                .invalidIdentifier, "The home directory is unknown: set HOME or XDG_STATE_HOME to an absolute path.")
        }
        return URL(filePath: base).appending(path: "linnet/background").appending(path: identifier)
    }
}
