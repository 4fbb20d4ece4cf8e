internal import HTTPTypes
internal import LinnetMessages

extension StoredResponse.Part {
    /// Parses the Content-Range field of a 206 response (RFC 9110, section 14.4); nil if it is invalid, or if the
    /// length of the representation is unknown.
    init?(contentRange value: String) {
        let words = Array(value.utf8)[...].trimmed.split(separator: UInt8(ascii: " "))
        guard words.count == 2, String(decoding: words[0], as: UTF8.self).lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard halves.count == 2, let total = Digits.parse(halves[1]), total < Digits.limit else { return nil }
        let ends = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Digits.parse(ends[0]), let last = Digits.parse(ends[1]),
            first <= last, last < total
        else { return nil }
        self.init(range: first..<last + 1, total: total)
    }

    /// The value of a Content-Range field for the part.
    var contentRange: String { "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)" }
}

extension StoredResponse {
    /// The number of bytes of the whole representation.
    var totalSize: Int64 { part?.total ?? bodySize }

    /// The place of the stored bytes in the representation.
    var storedRange: Range<Int64> { part?.range ?? 0..<bodySize }
}
