/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentCoding {
    /// Encodes bytes, except for those that fulfil a condition.
    package static func encoded(_ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isKept(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), ASCII.hexadecimalDigit(byte >> 4), ASCII.hexadecimalDigit(byte & 15)]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes bytes. A `%` without two digits stands for itself.
    ///
    /// - Parameter plusIsSpace: Whether `+` stands for a space, as in forms.
    package static func decoded(_ bytes: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
        var (decoded, rest) = ([UInt8](), Array(bytes)[...])
        while let byte = rest.popFirst() {
            let digits = byte == UInt8(ascii: "%") ? rest.prefix(2).compactMap { ASCII.hexadecimalValue($0) } : []
            if digits.count == 2 {
                decoded.append(digits[0] << 4 | digits[1])
                rest.removeFirst(2)
            } else {
                decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return decoded
    }
}
