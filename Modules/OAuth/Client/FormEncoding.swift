internal import LinnetMessages

/// The encoding of forms (RFC 6749, appendix B).
enum FormEncoding {
    static func encode(_ parameters: [(String, String)]) -> String {
        parameters.map { encode($0.0) + "=" + encode($0.1) }.joined(separator: "&")
    }

    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if ASCII.isAlphanumeric(byte) || "-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), ASCII.hexadecimalDigit(byte >> 4), ASCII.hexadecimalDigit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes a name or a value. Invalid escapes stay as they are.
    static func decode(_ text: some StringProtocol) -> String {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = ASCII.hexadecimalValue(rest[rest.startIndex]),
                let low = ASCII.hexadecimalValue(rest[rest.startIndex + 1])
            {
                bytes.append(high << 4 | low)
                rest.removeFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
