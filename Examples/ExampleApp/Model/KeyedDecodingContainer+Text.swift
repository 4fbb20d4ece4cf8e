extension KeyedDecodingContainer {
    /// Decodes a text, truncated to the given number of Unicode scalars.
    ///
    /// A limit in characters would not bound the text: a character can have any number of combining marks.
    func decodeText(upTo limit: Int, forKey key: Key) throws -> String {
        String(try decode(String.self, forKey: key).unicodeScalars.prefix(limit))
    }

    /// Decodes the text of a URL, of at most 8,000 bytes (RFC 9110, 4.1). A longer one is an error: a part of it would
    /// be another URL.
    func decodeURLText(forKey key: Key) throws -> String {
        let text = try decode(String.self, forKey: key)
        guard text.utf8.count <= 8_000 else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "The URL has more than 8,000 bytes.")
        }
        return text
    }
}
