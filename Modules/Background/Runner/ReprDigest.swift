internal import FoundationEssentials
internal import HTTPTypes

/// The SHA-256 of a representation that a server declares (`Repr-Digest`, RFC 9530).
enum ReprDigest {
    /// Returns the digest in hexadecimal; nil if there is no valid SHA-256, or the response has a content coding: the
    /// digest is then of coded bytes.
    static func sha256(_ fields: HTTPFields) -> String? {
        guard fields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true,
            let name = HTTPField.Name("Repr-Digest")
        else { return nil }
        let members = fields[values: name].flatMap { $0.split(separator: ",") }
        for member in members {
            let pair = member.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, trimmed(pair[0]) == "sha-256" else { continue }
            // A byte sequence of structured fields (RFC 9651, section 3.3.5); parameters may follow it.
            let value = trimmed(pair[1])
            guard value.hasPrefix(":"), let end = value.dropFirst().firstIndex(of: ":"),
                let bytes = Data(base64Encoded: String(value[value.index(after: value.startIndex)..<end])),
                bytes.count == 32
            else { continue }
            return bytes.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
