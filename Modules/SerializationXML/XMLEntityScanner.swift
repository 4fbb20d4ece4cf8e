import FoundationEssentials

/// Finds entity declarations before a parser sees them.
enum XMLEntityScanner {
    /// Whether `<!ENTITY` stands somewhere behind `<!DOCTYPE`. Zero bytes are skipped, so that UTF-16 is seen too.
    ///
    /// Other encodings could hide it; what entities grow to is limited for that case as well.
    static func declaresEntities(_ data: Data) -> Bool {
        var wanted = Array("<!DOCTYPE".utf8)
        var matched = 0
        var isBehindDocumentType = false
        for byte in data where byte != 0 {
            if byte != wanted[matched] {
                // Neither word repeats its first byte, so that a mismatch can only be a new beginning.
                matched = byte == wanted[0] ? 1 : 0
                continue
            }
            matched += 1
            guard matched == wanted.count else { continue }
            if isBehindDocumentType { return true }
            isBehindDocumentType = true
            wanted = Array("<!ENTITY".utf8)
            matched = 0
        }
        return false
    }
}
