internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The file of a token. All functions block.
struct TokenFile {
    let path: String

    /// The largest size of a file. Two tokens of the largest size take less.
    private static let sizeLimit = 1 << 20

    /// Reads the token; nil if there is no file.
    func read() throws(OAuthError) -> OAuthToken? {
        // Without O_NONBLOCK, opening a named pipe would wait for its writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
        let descriptor = SystemCall.retrying { open(path, flags) }
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failedOpening(path)
        }
        defer { close(descriptor) }
        let size = try check(descriptor, path)
        guard size <= Self.sizeLimit else { throw damaged("is larger than a token can be") }
        guard let token = try? JSONDecoder().decode(OAuthToken.self, from: try contents(descriptor, size: size)) else {
            throw damaged("does not contain a whole token")
        }
        return token
    }

    /// Checks that an open file is regular, belongs to the user, and gives others no access; returns its size.
    private func check(_ descriptor: Int32, _ path: String) throws(OAuthError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failed(path, "cannot be inspected") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw untrusted("is not a regular file", path) }
        guard status.st_uid == geteuid() else { throw untrusted("belongs to another user", path) }
        guard status.st_mode & 0o077 == 0 else { throw untrusted("can be used by others; its mode must be 0600", path) }
        return Int(status.st_size)
    }

    private func contents(_ descriptor: Int32, size: Int) throws(OAuthError) -> Data {
        var bytes = [UInt8](repeating: 0, count: size)
        var filled = 0
        while filled < size {
            let count = SystemCall.retrying {
                bytes.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress?.advanced(by: filled), size - filled, off_t(filled))
                }
            }
            guard count >= 0 else { throw Self.failed(path, "cannot be read") }
            if count == 0 { break }
            filled += count
        }
        return Data(bytes[..<filled])
    }

    /// Removes the file. Requires the lock.
    func remove() throws(OAuthError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw Self.failed(path, "cannot be removed") }
        synchronizeFolder()
    }

    /// The error of a file that open(2) did not open. The file of another user usually cannot be opened.
    private func failedOpening(_ path: String) -> OAuthError {
        let number = errno
        var status = stat()
        switch number {
        case ELOOP: return untrusted("is a symbolic link", path)
        case EACCES where lstat(path, &status) == 0 && status.st_uid != geteuid():
            return untrusted("belongs to another user", path)
        default: return Self.failed(path, "cannot be opened", number)
        }
    }

    fileprivate func untrusted(_ problem: String, _ path: String? = nil) -> OAuthError {
        OAuthError(.untrustedTokenFile, "The file \((path ?? self.path).oneLine) \(problem).")
    }

    private func damaged(_ problem: String) -> OAuthError {
        OAuthError(
            .damagedTokenFile, "The token file \(path.oneLine) \(problem). Remove it, and log in again.")
    }

    static func failed(_ path: String, _ problem: String, _ number: Int32 = errno) -> OAuthError {
        let failure = FileFailure(path: path, errorNumber: number, problem: problem)
        return OAuthError(.tokenStoreFailed, "\(failure)", underlying: failure)
    }

    /// Makes a new name durable. On a file system that cannot, the old file may be back after a power failure.
    fileprivate func synchronizeFolder() {
        let descriptor = SystemCall.retrying { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { return }
        _ = SystemCall.retrying { fsync(descriptor) }
        close(descriptor)
    }

    private var folder: String { URL(filePath: path).deletingLastPathComponent().path }
}

// MARK: - The lock

extension TokenFile {
    /// Opens the lock file, which is created if it is missing, with its folders.
    func openLock() throws(OAuthError) -> TokenLock {
        let lock = path + ".lock"
        try makeFolders()
        let descriptor = SystemCall.retrying {
            open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        }
        guard descriptor >= 0 else { throw failedOpening(lock) }
        let object = TokenLock(descriptor, lock)
        _ = try check(descriptor, lock)
        return object
    }

    private func makeFolders() throws(OAuthError) {
        guard access(folder, F_OK) != 0 else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw OAuthError(
                .tokenStoreFailed, "The folder \(folder.oneLine) cannot be made: \(error)", underlying: error)
        }
    }
}

// MARK: - Replacing

extension TokenFile {
    /// The file that will replace the token file. It is created before a renewal, with room for a token, so that
    /// neither a folder that cannot be written nor a full disk costs the new refresh token.
    struct Successor: Sendable {
        /// The room for a token in bytes. Most tokens take less.
        private static let room = 16 << 10

        fileprivate let file: TokenFile
        fileprivate let descriptor: Int32
        private var path: String { file.path + ".new" }

        fileprivate init(_ file: TokenFile, _ descriptor: Int32) {
            self.file = file
            self.descriptor = descriptor
        }

        /// Replaces the token file as a whole, even if the machine stops meanwhile.
        func replace(with token: OAuthToken) throws(OAuthError) {
            guard let data = try? JSONEncoder().encode(token) else {
                discard()
                throw OAuthError(.tokenStoreFailed, "The token has a date that cannot be stored.")
            }
            let failure =
                SystemCall.writeAll([UInt8](data)[...], to: descriptor, at: 0) ?? Self.end(descriptor, at: data.count)
            guard failure == nil, rename(path, file.path) == 0 else {
                let number = failure ?? errno
                discard()
                throw TokenFile.failed(file.path, "cannot be replaced", number)
            }
            close(descriptor)
            file.synchronizeFolder()
        }

        /// Removes the file.
        func discard() {
            unlink(path)
            close(descriptor)
        }

        /// Takes the room for a token; discards the file if there is none.
        fileprivate func reserve() throws(OAuthError) {
            let room = [UInt8](repeating: 0, count: Self.room)
            guard let number = SystemCall.writeAll(room[...], to: descriptor, at: 0) else { return }
            discard()
            throw TokenFile.failed(path, "cannot be written", number)
        }

        /// Cuts the file to its size, and writes it to the disk; returns the error number of a failure.
        private static func end(_ descriptor: Int32, at size: Int) -> Int32? {
            let isCut = SystemCall.retrying { ftruncate(descriptor, off_t(size)) } == 0
            return isCut && SystemCall.retrying { fsync(descriptor) } == 0 ? nil : errno
        }
    }

    /// Creates the file that will replace the token file. Requires the lock. Removes the unfinished file of a process
    /// that was killed.
    func makeSuccessor() throws(OAuthError) -> Successor {
        let new = path + ".new"
        unlink(new)
        let descriptor = SystemCall.retrying { open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard descriptor >= 0 else { throw Self.failed(new, "cannot be created") }
        let successor = Successor(self, descriptor)
        try successor.reserve()
        return successor
    }
}
