internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// System calls on files, as functions that throw a `FileFailure`. All of them can block.
enum SystemFile {
    /// The kind of the file at a path. Symbolic links are not followed.
    enum Kind: Equatable {
        case file, folder, link, other
    }

    static func kind(of path: String) throws(FileFailure) -> Kind? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw failure(path, "cannot be inspected")
        }
        return switch status.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .link
        default: .other
        }
    }

    /// Checks that a folder exists and that files can be created in it.
    static func checkFolder(_ path: String) throws(FileFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(path, "cannot be inspected") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw failure(path, "is not a folder", ENOTDIR) }
        guard access(path, W_OK | X_OK) == 0 else { throw failure(path, "is not writable") }
    }

    /// Creates a folder and its missing parents.
    static func makeFolder(_ path: String) throws(FileFailure) {
        if mkdir(path, 0o777) == 0 { return }
        let code = errno
        if code == ENOENT, let parent = FilePlace(path)?.folder, parent != path {
            try makeFolder(parent)
            // Another process may have created it meanwhile.
            if mkdir(path, 0o777) == 0 || errno == EEXIST { return }
            throw failure(path, "cannot be created")
        }
        guard code == EEXIST else { throw failure(path, "cannot be created", code) }
    }

    /// Creates and opens a file; returns nil if it already exists.
    static func create(_ path: String, permissions: UInt16?) throws(FileFailure) -> Int32? {
        // Sets the permissions at creation, so that other users can never open the file.
        let mode = mode_t((permissions ?? 0o666) & 0o7777)
        let descriptor = SystemCall.retrying { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        guard descriptor >= 0 else {
            if errno == EEXIST { return nil }
            throw failure(path, "cannot be created")
        }
        if permissions != nil, fchmod(descriptor, mode) != 0 {
            let code = errno
            close(descriptor)
            unlink(path)
            throw failure(path, "cannot be given the requested permissions", code)
        }
        return descriptor
    }

    /// Sets the permissions of a new file: the given ones, or else 0o666 reduced by the process's umask.
    static func setPermissions(_ path: String, _ permissions: UInt16?) throws(FileFailure) {
        let mode = if let permissions { mode_t(permissions & 0o7777) } else { try usualMode(beside: path) }
        guard chmod(path, mode) == 0 else { throw failure(path, "cannot be given the requested permissions") }
    }

    /// Returns the permissions of a new file, taken from a sample file, because reading the umask with `umask()` would
    /// change it for all threads.
    private static func usualMode(beside path: String) throws(FileFailure) -> mode_t {
        let descriptor = try createSample(beside: path)
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, "cannot be inspected") }
        return status.st_mode & 0o7777
    }

    /// Creates and opens an empty file that goes when it is closed.
    private static func createSample(beside path: String) throws(FileFailure) -> Int32 {
        guard let place = FilePlace(path) else { throw failure(path, "cannot be created", EINVAL) }
        #if !canImport(Darwin)
        // O_TMPFILE, a macro that Swift does not import: a file without a name, of which a process that is killed
        // leaves nothing. Not all file systems have it.
        let unnamed = 0o20_000_000 | O_DIRECTORY
        let descriptor = SystemCall.retrying { open(place.folder, unnamed | O_WRONLY | O_CLOEXEC, mode_t(0o666)) }
        if descriptor >= 0 { return descriptor }
        #endif
        let sample = place.makePartialPath()
        guard let descriptor = try create(sample, permissions: nil) else {
            throw failure(path, "cannot be given the requested permissions", EEXIST)
        }
        unlink(sample)
        return descriptor
    }

    /// Renames a file, and replaces an existing file with the new name.
    static func move(_ path: String, to newPath: String) throws(FileFailure) {
        guard rename(path, newPath) == 0 else { throw failure(newPath, "cannot be moved into place") }
    }

    /// Renames a file unless the new name exists; returns whether the file was renamed.
    static func moveIfFree(_ path: String, to newPath: String) throws(FileFailure) -> Bool {
        // Unlike rename, link fails atomically if the new name exists.
        if link(path, newPath) == 0 {
            unlink(path)
            return true
        }
        if errno == EEXIST { return false }
        if errno == EXDEV { throw failure(newPath, "cannot be moved into place") }
        // Without hard links in the file system, an empty file reserves the name first.
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

    /// Synchronizes a folder's entries to the disk.
    static func synchronizeFolder(_ path: String) throws(FileFailure) {
        let descriptor = SystemCall.retrying { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw failure(path, "cannot be opened") }
        defer { close(descriptor) }
        guard SystemCall.retrying({ fsync(descriptor) }) == 0 else {
            throw failure(path, "cannot be synchronized to the disk")
        }
    }

    static func failure(_ path: String, _ problem: String, _ code: Int32 = errno) -> FileFailure {
        FileFailure(path: path, errorNumber: code, problem: problem)
    }
}
