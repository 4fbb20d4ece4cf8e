/// A Content-Range field in bytes (RFC 9110, section 14.4).
struct ContentRange: Sendable, Hashable {
    /// The positions of the first and the last byte; nil for an unsatisfied range.
    var bytes: ClosedRange<Int64>?
    /// The complete length; nil if the server does not know it.
    var complete: Int64?

    /// Parses a field value; returns nil if it is not a valid range in bytes.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let complete = Self.number(parts[1]) else { return nil }
            self.complete = complete
        }
        if parts[0] == "*" {
            guard complete != nil else { return nil }
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            // Otherwise the length would overflow an Int64.
            last < .max
        else { return nil }
        if let complete, last >= complete { return nil }
        bytes = first...last
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
