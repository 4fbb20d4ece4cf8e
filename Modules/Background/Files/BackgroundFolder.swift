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
    func prepare() throws(BackgroundError) {
        try Self.makeParents(of: path)
        for folder in [path, parts, sockets] { try Self.make(folder) }
        try Gate.make(self)
    }

    /// Creates the file of the journal, which only its owner can read. SQLite gives its other files the same
    /// permissions.
    func makeJournal() throws(BackgroundError) {
        let descriptor = SystemCall.retrying {
            open(journal, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw .failedCall(journal, "cannot be created")
        }
    }

    private static func makeParents(of path: String) throws(BackgroundError) {
        guard let end = path.lastIndex(of: "/"), end > path.startIndex else { return }
        let parent = String(path[..<end])
        guard mkdir(parent, 0o700) != 0, errno == ENOENT else { return }
        try makeParents(of: parent)
        _ = mkdir(parent, 0o700)
    }

    private static func make(_ folder: String) throws(BackgroundError) {
        if mkdir(folder, 0o700) != 0, errno != EEXIST { throw .failedCall(folder, "cannot be created") }
        var status = stat()
        guard lstat(folder, &status) == 0 else { throw .failedCall(folder, "cannot be inspected") }
        let problem: String? =
            if status.st_mode & S_IFMT == S_IFLNK {
                "is a symbolic link; use the directory that it points to"
            } else if status.st_mode & S_IFMT != S_IFDIR {
                "is not a directory"
            } else if status.st_uid != geteuid() {
                "belongs to another user; use a directory of the user that runs the program"
            } else if status.st_mode & 0o022 != 0 {
                "can be written by other users; remove the write permission of its group and of others"
            } else {
                nil
            }
        guard let problem else { return }
        throw BackgroundError(.untrustedDirectory, "The directory \(folder) \(problem).")
    }
}

extension BackgroundFolder {
    /// The directory of a session by its identifier: `$XDG_STATE_HOME/linnet/background/IDENTIFIER`, by default below
    /// `~/.local/state` (XDG Base Directory Specification).
    static func directory(
        of identifier: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(BackgroundError) -> URL {
        guard isName(identifier) else {
            throw BackgroundError(
                .invalidIdentifier,
                "\"\(identifier)\" cannot be the identifier of a background session: use 1 to 200 bytes without separators, "
                    + "not beginning with a full stop.")
        }
        let base: String
        if let state = absolute(environment["XDG_STATE_HOME"]) {
            base = state
        } else if let home = absolute(environment["HOME"]) {
            base = home + "/.local/state"
        } else {
            throw BackgroundError(
                .invalidIdentifier, "The home directory is unknown: set HOME or XDG_STATE_HOME to an absolute path.")
        }
        return URL(filePath: base).appending(path: "linnet/background").appending(path: identifier)
    }

    static func isName(_ name: String) -> Bool {
        1...200 ~= name.utf8.count && !name.hasPrefix(".")
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7F }
    }

    /// Returns nil for relative paths, which the specification ignores.
    private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
}
