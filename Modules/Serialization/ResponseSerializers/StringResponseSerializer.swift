import FoundationEssentials

/// Reads the body as a text.
///
/// The charset is that of a byte order mark if the body begins with one, else the one that Content-Type names, else
/// ``fallbackCharset``. Bytes that are not in that charset are an error; nothing is replaced. An empty body is an empty text,
/// whatever its charset.
public struct StringResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// What is accepted; the default is a status of 200 to 299 with any content type.
    public var validation: ResponseValidation
    /// The charset when the response names none; the default is UTF-8.
    public var fallbackCharset: Charset
    /// Charsets that are looked for by name before those that are known here; the default is none.
    ///
    /// ```swift
    /// serializer.charsets = [Charset(custom: "x-braille") { bytes in Braille.text(of: bytes) }]
    /// ```
    public var charsets: [Charset] = []

    /// Creates a serializer.
    public init(validation: ResponseValidation = ResponseValidation(), fallbackCharset: Charset = .utf8) {
        self.validation = validation
        self.fallbackCharset = fallbackCharset
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` when the charset is not known
    ///   here; a ``CharsetError`` underlies it when the bytes are not in it, or the C library lacks its converter.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> String {
        try validation.validate(response)
        if response.body.isEmpty { return "" }
        let charset = try charset(of: response)
        do {
            return try charset.text(of: response.body)
        } catch {
            throw SerializationError(
                code: .decodingFailed,
                message: error.kind == .malformed
                    ? "The body is not a text in \(charset): byte \(error.offset) or one behind it is not in the charset."
                    : "The body's charset is \(charset), and \(error); install it, or set a charset of your own.",
                underlying: error,
                response: response
            )
        }
    }

    private func charset(of response: SerializedResponse) throws(SerializationError) -> Charset {
        let name = response.mediaType?.parameter("charset")
        if let marked = markedCharset(response.body, name: name?.lowercased() ?? "") { return marked }
        guard let name else { return fallbackCharset }
        let label = name.lowercased()
        guard let charset = charsets.first(where: { $0.description == label }) ?? Charset(name: label) else {
            throw SerializationError(
                code: .decodingFailed,
                message: "The charset \(name.debugDescription) is not known.",
                response: response
            )
        }
        return charset
    }

    /// The charset of a byte order mark. That of UTF-16 begins as that of UTF-32 does; where one of the two is named, its
    /// own decoder looks at it.
    private func markedCharset(_ body: Data, name: String) -> Charset? {
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if name.hasPrefix("utf-16") || name.hasPrefix("utf-32") { return nil }
        if body.starts(with: [0xFF, 0xFE, 0, 0]) { return .utf32LittleEndian }
        if body.starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32BigEndian }
        if body.starts(with: [0xFE, 0xFF]) { return .utf16BigEndian }
        return body.starts(with: [0xFF, 0xFE]) ? .utf16LittleEndian : nil
    }
}

extension StringResponseSerializer {
    private enum CodingKeys: String, CodingKey { case validation, fallbackCharset, charsets }

    /// Reads a serializer; without ``charsets`` there are none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        validation = try container.decode(ResponseValidation.self, forKey: .validation)
        fallbackCharset = try container.decode(Charset.self, forKey: .fallbackCharset)
        charsets = try container.decodeIfPresent([Charset].self, forKey: .charsets) ?? []
    }
}
