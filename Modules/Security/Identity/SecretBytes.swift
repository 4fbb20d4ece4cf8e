internal import COpenSSL
internal import FoundationEssentials
internal import LinnetMessages

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Bytes that are wiped on release.
final class SecretBytes {
    let bytes: UnsafeMutableRawBufferPointer

    init(count: Int) {
        bytes = .allocate(byteCount: count, alignment: 1)
    }

    /// Copies bytes.
    convenience init(_ data: some Collection<UInt8>) {
        self.init(count: data.count)
        bytes.copyBytes(from: data)
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Overwrites copies that OpenSSL may have freed without wiping them: its key decoder does so (3.0 to 3.5).
    /// Allocators reuse the most recently freed blocks first, so blocks of all plausible sizes are allocated and wiped.
    func overwriteFreedCopies() {
        let largest = min(2 * bytes.count, 8192)
        let copies = stride(from: 16, through: max(16, largest), by: 16).flatMap { size in
            (0..<8).map { _ in SecretBytes(count: size) }
        }
        for copy in copies { copy.bytes.initializeMemory(as: UInt8.self, repeating: 0) }
    }

    /// Calls a function with a BIO over the bytes, without a copy.
    func withBIO<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
        guard let count = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, count) else {
            return nil
        }
        defer { BIO_free(bio) }
        return body(bio)
    }

    /// Whether the bytes contain a PEM block (RFC 7468).
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

    /// Reads a file of at most one mebibyte without leaving another copy.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile``.
    static func file(_ path: String) throws(SecurityError) -> SecretBytes {
        guard let size = FileSize.ofRegularFile(path) else {
            throw unreadable(path, "it does not exist or is not a file")
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

/// A passphrase in memory that is wiped, with a record of whether OpenSSL asked for it.
///
/// Used during one call of OpenSSL, on one thread.
final class Passphrase {
    private let secret: SecretBytes?
    private(set) var wasAsked = false

    init(_ text: String?) {
        secret = text.map { SecretBytes($0.utf8) }
    }

    var isGiven: Bool { secret != nil }

    /// Calls a function with the bytes and a terminating zero, or with nil if there is no passphrase.
    func withCString<Result>(_ body: (UnsafePointer<CChar>?, _ count: Int32) -> Result) -> Result {
        guard let secret else { return body(nil, 0) }
        let copy = SecretBytes(count: secret.bytes.count + 1)
        copy.bytes.copyMemory(from: UnsafeRawBufferPointer(secret.bytes))
        copy.bytes[secret.bytes.count] = 0
        return body(copy.bytes.bindMemory(to: CChar.self).baseAddress, Int32(clamping: secret.bytes.count))
    }

    /// Records that the passphrase was asked for, and calls a function with it if there is one.
    func whenAsked(_ body: (UnsafePointer<CChar>, _ count: Int32) -> OpaquePointer?) -> OpaquePointer? {
        wasAsked = true
        return withCString { text, count in text.flatMap { body($0, count) } }
    }

    /// The passphrase callback. OpenSSL's default would prompt at the terminal.
    static let callback:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            buffer, size, _, context in
            guard let buffer, let context else { return -1 }
            let passphrase = Unmanaged<Passphrase>.fromOpaque(context).takeUnretainedValue()
            return passphrase.write(to: UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)))
        }

    /// The argument of the callback.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private func write(to buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        wasAsked = true
        guard let secret, secret.bytes.count <= buffer.count else { return -1 }
        buffer.copyMemory(from: UnsafeRawBufferPointer(secret.bytes))
        return Int32(clamping: secret.bytes.count)
    }
}
