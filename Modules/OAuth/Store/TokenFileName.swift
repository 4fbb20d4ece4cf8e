internal import LinnetMessages
internal import LinnetSecurity

/// File names of tokens.
package enum TokenFileName {
    /// The longest name in bytes.
    package static let limit = 97

    /// A text as a part of a file name, without separators and full stops at its beginning. Different texts have
    /// different names.
    package static func of(_ text: String) -> String {
        let name = encoded(text)
        guard name.utf8.count > limit else { return name }
        let hash = Array(text.utf8).withUnsafeBytes { SHA256Hasher.digest(of: $0) }
        // No encoded text has a full stop.
        return name.prefix(32) + "." + hash.map(hexadecimal).joined()
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-")
                ? String(UnicodeScalar(byte)) : "_" + hexadecimal(byte)
        }.joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
