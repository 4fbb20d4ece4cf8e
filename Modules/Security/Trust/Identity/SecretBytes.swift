internal import COpenSSL
internal import FoundationEssentials
internal import LinnetMessages

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
    /// The maximum number of bytes of a key with its certificates: one mebibyte.
    static let mostBytes = 1 << 20

    /// Copies at most one mebibyte.
    ///
    /// - Throws: An error with this code if there is more.
    static func copying(_ data: Data, orThrow code: SecurityError.Code) throws(SecurityError) -> SecretBytes {
        guard data.count <= mostBytes else {
            throw SecurityError(code, "The bytes are more than \(mostBytes), which no key or PKCS#12 file has.")
        }
        return SecretBytes(data)
    }

    /// Reads a file of at most one mebibyte without leaving another copy.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile``.
    static func file(_ path: String) throws(SecurityError) -> SecretBytes {
        let file = try RegularFile.at(path, most: mostBytes)
        let secret = SecretBytes(count: file.size)
        guard file.fill(secret.bytes) else {
            throw RegularFile.unreadable(path, "it became shorter while it was read")
        }
        return secret
    }
}

/// A passphrase in memory that is wiped, with a record of whether it was asked for, and for too much work.
///
/// Used during one call of OpenSSL, on one thread.
final class Passphrase {
    private let secret: SecretBytes?
    private(set) var wasAsked = false
    /// Whether deriving a key from it would have taken more than `KeyDerivation.mostIterations`.
    private(set) var exceedsIterations = false

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

    /// Records that the passphrase was asked for, and calls a function with it if there is one and the iterations are
    /// not too many.
    func whenAsked(
        deriving iterations: UInt64, _ body: (UnsafePointer<CChar>, _ count: Int32) -> OpaquePointer?
    ) -> OpaquePointer? {
        wasAsked = true
        exceedsIterations = iterations > KeyDerivation.mostIterations
        guard !exceedsIterations else { return nil }
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
