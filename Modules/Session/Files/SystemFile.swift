internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// System calls on files, as functions that throw the system's error. All of them may block.
enum SystemFile {
    /// What is at a path, a symbolic link itself and not what it leads to; nil when nothing is.
    enum Kind: Equatable {
        case file, folder, link, other
    }

    static func kind(of path: String) throws(FileFailure) -> Kind? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw failure(path, "cannot be looked at")
        }
        return switch status.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .link
        default: .other
        }
    }

    /// Does nothing when there is a folder that files can be made in.
    static func checkFolder(_ path: String) throws(FileFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(path, "cannot be looked at") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw failure(path, "is not a folder", ENOTDIR) }
        guard access(path, W_OK | X_OK) == 0 else { throw failure(path, "cannot take a file") }
    }

    /// Makes a folder, and those above it that are missing.
    static func makeFolder(_ path: String) throws(FileFailure) {
        if mkdir(path, 0o777) == 0 { return }
        let code = errno
        if code == ENOENT, let parent = FilePlace(path)?.folder, parent != path {
            try makeFolder(parent)
            if mkdir(path, 0o777) == 0 || errno == EEXIST { return }
            throw failure(path, "cannot be made")
        }
        guard code == EEXIST else { throw failure(path, "cannot be made", code) }
    }

    /// Opens a file that must be new; nil when there is one.
    static func create(_ path: String, permissions: UInt16?) throws(FileFailure) -> Int32? {
        // Sets the permissions at creation, so that the file is never open to other users.
        let mode = mode_t((permissions ?? 0o666) & 0o7777)
        let descriptor = SystemCall.retrying { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        guard descriptor >= 0 else {
            if errno == EEXIST { return nil }
            throw failure(path, "cannot be made")
        }
        if permissions != nil, fchmod(descriptor, mode) != 0 {
            let code = errno
            close(descriptor)
            unlink(path)
            throw failure(path, "cannot be given its permissions", code)
        }
        return descriptor
    }

    /// Gives a file the permissions of a new one: those that are asked for, or else 0o666 without what the process masks.
    static func setPermissions(_ path: String, _ permissions: UInt16?) throws(FileFailure) {
        let mode = if let permissions { mode_t(permissions & 0o7777) } else { try usualMode(beside: path) }
        guard chmod(path, mode) == 0 else { throw failure(path, "cannot be given its permissions") }
    }

    /// What the process masks can only be seen in a file that it makes: asking for the mask changes it for all threads.
    private static func usualMode(beside path: String) throws(FileFailure) -> mode_t {
        guard let sample = FilePlace(path)?.makePartialPath(), let descriptor = try create(sample, permissions: nil)
        else {
            throw failure(path, "cannot be given its permissions", EEXIST)
        }
        defer {
            close(descriptor)
            unlink(sample)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, "cannot be looked at") }
        return status.st_mode & 0o7777
    }

    /// Renames a file, replacing any file with the new name.
    static func move(_ path: String, to newPath: String) throws(FileFailure) {
        guard rename(path, newPath) == 0 else { throw failure(newPath, "cannot be put in place") }
    }

    /// Renames a file, unless something has the new name; then it returns false.
    static func moveIfFree(_ path: String, to newPath: String) throws(FileFailure) -> Bool {
        if link(path, newPath) == 0 {
            unlink(path)
            return true
        }
        if errno == EEXIST { return false }
        if errno == EXDEV { throw failure(newPath, "cannot be put in place") }
        // A file system without hard links: the name is taken by an empty file first.
        guard let descriptor = try create(newPath, permissions: nil) else { return false }
        close(descriptor)
        do {
            try move(path, to: newPath)
            return true
        } catch {
            unlink(newPath)
            throw error
        }
    }

    /// Returns once a folder's names are on the disk.
    static func synchronizeFolder(_ path: String) throws(FileFailure) {
        let descriptor = SystemCall.retrying { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw failure(path, "cannot be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path, "cannot be written to its disk") }
    }

    static func failure(_ path: String, _ problem: String, _ code: Int32 = errno) -> FileFailure {
        FileFailure(path: path, errorNumber: code, problem: problem)
    }
}
