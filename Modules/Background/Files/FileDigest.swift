internal import LinnetSecurity
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The SHA-256 of a file.
enum FileDigest {
    /// Reads a file, and returns its SHA-256 in hexadecimal. It blocks.
    static func sha256(of path: String, followsLinks: Bool) throws(FileFailure) -> String {
        let descriptor = SystemCall.retrying { open(path, O_RDONLY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)) }
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        let hasher = SHA256Hasher()
        var room = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = room.withUnsafeMutableBytes { bytes in
                SystemCall.retrying { read(descriptor, bytes.baseAddress, bytes.count) }
            }
            guard count >= 0 else { throw failure(path) }
            if count == 0 { return hasher.hexadecimalDigest }
            room.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    private static func failure(_ path: String) -> FileFailure {
        FileFailure(path: path, errorNumber: errno, problem: "cannot be read")
    }
}
