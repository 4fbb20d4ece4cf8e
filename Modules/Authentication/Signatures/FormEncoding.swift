internal import LinnetMessages

/// Names and values of a query in the form that signatures have (RFC 9421, section 2.2.8).
enum FormEncoding {
    /// Encodes bytes as WHATWG URL's "percent-encode after encoding" does for
    /// `application/x-www-form-urlencoded`, except that a space is `%20`.
    static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if ASCII.isAlphanumeric(byte) || "*-._".utf8.contains(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), ASCII.hexadecimalDigit(byte >> 4), ASCII.hexadecimalDigit(byte & 15)]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The names and values of a query, each encoded anew.
    static func pairs(_ query: some StringProtocol) -> [(name: String, value: String)] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (encoded(decoded(parts[0])), parts.count > 1 ? encoded(decoded(parts[1])) : "")
        }
    }

    private static func decoded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = ASCII.hexadecimalValue(bytes[index + 1]), let low = ASCII.hexadecimalValue(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return decoded
    }
}
