internal import LinnetMessages

/// The encoding of forms (RFC 6749, appendix B).
enum FormEncoding {
    static func encode(_ parameters: [(String, String)]) -> String {
        parameters.map { encode($0.0) + "=" + encode($0.1) }.joined(separator: "&")
    }

    static func encode(_ text: String) -> String {
        PercentCoding.encoded(text.utf8) { ASCII.isAlphanumeric($0) || "-._~".utf8.contains($0) }
    }

    /// Decodes a name or a value. Invalid escapes stay as they are.
    static func decode(_ text: some StringProtocol) -> String {
        String(decoding: PercentCoding.decoded(text.utf8, plusIsSpace: true), as: UTF8.self)
    }
}
