#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Folders whose contents only this user can change. All functions block.
package enum PrivateFolder {
    /// The reason why a folder is not used.
    package enum Problem: Error, Sendable {
        /// Others could have written its contents; the text says why.
        case untrusted(String)
        case failed(FileFailure)
    }

    /// Creates a folder and its parents if they are missing, and checks the folder.
    package static func prepare(_ path: String) throws(Problem) {
        try makeParents(of: path)
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure(path, "cannot be created") }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure(path, "cannot be inspected") }
        try check(status, path)
    }

    /// Checks a folder that may exist. Nothing is wrong with one that is missing.
    ///
    /// - Parameter acceptsOtherKinds: Whether anything but a folder passes.
    package static func check(_ path: String, acceptsOtherKinds: Bool = false) throws(Problem) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if acceptsOtherKinds, status.st_mode & S_IFMT != S_IFDIR { return }
        try check(status, path)
    }

    private static func makeParents(of path: String) throws(Problem) {
        guard let end = path.lastIndex(of: "/"), end > path.startIndex else { return }
        let parent = String(path[..<end])
        // Most often the parent exists, so the walk begins at the last folder.
        guard mkdir(parent, 0o700) != 0, errno == ENOENT else { return }
        try makeParents(of: parent)
        _ = mkdir(parent, 0o700)
    }

    private static func check(_ status: stat, _ path: String) throws(Problem) {
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
        throw .untrusted("The directory \(path) \(problem).")
    }

    private static func failure(_ path: String, _ problem: String) -> Problem {
        .failed(FileFailure(path: path, errorNumber: errno, problem: problem))
    }
}
