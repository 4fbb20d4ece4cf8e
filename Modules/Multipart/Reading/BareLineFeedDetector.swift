/// Looks in what stands before the first delimiter for one whose line ends in LF alone: the boundary is there, and no reader
/// that wants CR LF finds it. Bytes come in any pieces.
struct BareLineFeedDetector: Sendable {
    /// LF, two hyphens, the boundary. LF is in no other place of it, so that a mismatch begins anew.
    private let needle: [UInt8]
    private var matched = 0

    init(needle: some Sequence<UInt8>) {
        self.needle = Array(needle)
    }

    /// Takes the next bytes; returns whether such a delimiter is among them.
    mutating func finds(in bytes: ArraySlice<UInt8>) -> Bool {
        for byte in bytes {
            if matched == needle.count {
                if byte == 0x0A { return true }
                if byte == 0x20 || byte == 0x09 { continue }
                matched = 0
            } else if byte == needle[matched] {
                matched += 1
            } else {
                matched = byte == 0x0A ? 1 : 0
            }
        }
        return false
    }
}
