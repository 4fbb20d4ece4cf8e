internal import COpenSSL

/// What opens a private key, in memory that is wiped, and whether it was asked for.
///
/// Lives as long as one call of OpenSSL's, on one thread.
final class Passphrase {
    private let secret: SecretBytes?
    private(set) var wasAsked = false

    init(_ text: String?) {
        secret = text.map { SecretBytes($0.utf8) }
    }

    var isGiven: Bool { secret != nil }

    /// Calls a function with the bytes, a zero behind them; nil where there is no passphrase.
    func withCString<Result>(_ body: (UnsafePointer<CChar>?, _ count: Int32) -> Result) -> Result {
        guard let secret else { return body(nil, 0) }
        let copy = SecretBytes(count: secret.bytes.count + 1)
        copy.bytes.copyMemory(from: UnsafeRawBufferPointer(secret.bytes))
        copy.bytes[secret.bytes.count] = 0
        return body(copy.bytes.bindMemory(to: CChar.self).baseAddress, Int32(clamping: secret.bytes.count))
    }

    /// Calls a function with the bytes where there are some, and remembers that they were asked for.
    func whenAsked(_ body: (UnsafePointer<CChar>, _ count: Int32) -> OpaquePointer?) -> OpaquePointer? {
        wasAsked = true
        return withCString { text, count in text.flatMap { body($0, count) } }
    }

    /// OpenSSL's callback: without it, OpenSSL would ask at the terminal.
    static let callback:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            buffer, size, _, context in
            guard let buffer, let context else { return -1 }
            let passphrase = Unmanaged<Passphrase>.fromOpaque(context).takeUnretainedValue()
            return passphrase.write(to: UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)))
        }

    /// What the callback gets.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private func write(to buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        wasAsked = true
        guard let secret, secret.bytes.count <= buffer.count else { return -1 }
        buffer.copyMemory(from: UnsafeRawBufferPointer(secret.bytes))
        return Int32(clamping: secret.bytes.count)
    }
}
