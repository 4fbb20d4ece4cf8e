package import HTTPTypes

extension HTTPFields {
    /// Whether a request has fields, besides the ones in Vary, that decide whether a stored response answers it:
    /// directives, conditions and ranges. Most requests have none, and a single pass finds that out.
    package var decideAboutStoredResponses: Bool {
        contains { field in
            let name = field.name.canonicalName
            // Comparing one byte is cheaper than hashing the name of each field.
            switch name.utf8.first {
            case UInt8(ascii: "c"), UInt8(ascii: "i"), UInt8(ascii: "p"), UInt8(ascii: "r"):
                return Self.deciding.contains(name)
            default: return false
            }
        }
    }

    private static let deciding: Set<String> = [
        "cache-control", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma",
        "range",
    ]
}
