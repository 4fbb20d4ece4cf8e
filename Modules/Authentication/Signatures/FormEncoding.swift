internal import LinnetMessages

/// Names and values of a query in the form that signatures have (RFC 9421, section 2.2.8).
enum FormEncoding {
    /// Encodes bytes as WHATWG URL's "percent-encode after encoding" does for
    /// `application/x-www-form-urlencoded`, except that a space is `%20`.
    static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        PercentCoding.encoded(bytes) { ASCII.isAlphanumeric($0) || "*-._".utf8.contains($0) }
    }

    /// The names and values of a query, each encoded anew.
    static func pairs(_ query: some StringProtocol) -> [(name: String, value: String)] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { encoded(decoded($0).utf8) }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    /// Decodes a name or a value as WHATWG URL, section 5.1, has it: bytes that are not UTF-8 become U+FFFD.
    private static func decoded(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: PercentCoding.decoded(bytes, plusIsSpace: true), as: UTF8.self)
    }
}
