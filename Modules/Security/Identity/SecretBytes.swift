internal import COpenSSL
internal import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Bytes that are wiped when they are no longer needed.
final class SecretBytes {
    let bytes: UnsafeMutableRawBufferPointer

    init(count: Int) {
        bytes = .allocate(byteCount: count, alignment: 1)
    }

    /// A copy.
    convenience init(_ data: some Collection<UInt8>) {
        self.init(count: data.count)
        bytes.copyBytes(from: data)
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Overwrites what OpenSSL may have left of it: its decoder of keys frees one copy of what it reads without wiping it
    /// (3.0 to 3.5). An allocator gives out first what was freed last, so blocks of all sizes that come into question get it.
    func overwriteFreedCopies() {
        let largest = min(2 * bytes.count, 8192)
        let copies = stride(from: 16, through: max(16, largest), by: 16).flatMap { size in
            (0..<8).map { _ in SecretBytes(count: size) }
        }
        for copy in copies { copy.bytes.initializeMemory(as: UInt8.self, repeating: 0) }
    }

    /// What OpenSSL reads from; it copies nothing.
    func withBIO<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
        guard let count = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, count) else {
            return nil
        }
        defer { BIO_free(bio) }
        return body(bio)
    }

    /// Whether there is a block of PEM (RFC 7468).
    var isPEM: Bool {
        let marker = Array("-----BEGIN ".utf8)
        guard bytes.count >= marker.count else { return false }
        return (0...(bytes.count - marker.count)).contains { start in
            bytes[start..<start + marker.count].elementsEqual(marker)
        }
    }
}

extension SecretBytes {
    private static let largestFile = 1 << 20

    /// A whole file, of up to a mebibyte, without a copy of it anywhere else.
    ///
    /// Fails with ``SecurityError/Code/cannotReadFile``.
    static func file(_ path: String) throws(SecurityError) -> SecretBytes {
        guard let size = FileSize.ofRegularFile(path) else {
            throw unreadable(path, "it is no file, or does not exist")
        }
        guard size <= largestFile else { throw unreadable(path, "it has more than \(largestFile) bytes") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        let secret = SecretBytes(count: size)
        var count = 0
        while count < size {
            let rest = UnsafeMutableRawBufferPointer(rebasing: secret.bytes[count...])
            let read = read(descriptor, rest.baseAddress, rest.count)
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw unreadable(path, "it became shorter while it was read") }
            count += read
        }
        return secret
    }

    private static func unreadable(_ path: String, _ reason: String) -> SecurityError {
        SecurityError(.cannotReadFile, "\"\(path.oneLine)\" cannot be read: \(reason).")
    }
}
