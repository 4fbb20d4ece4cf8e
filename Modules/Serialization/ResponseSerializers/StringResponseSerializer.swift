import FoundationEssentials

/// Reads the body as text.
///
/// The charset comes from a byte order mark, or else from Content-Type, or else it is ``fallbackCharset``. Bytes that
/// are invalid in the charset are an error; nothing is replaced. An empty body is an empty text in any charset.
public struct StringResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with any content type.
    public var validation: ResponseValidation
    /// The charset for responses that name none; the default is UTF-8.
    public var fallbackCharset: Charset
    /// Additional charsets, which take priority over known charsets of the same name; the default is none.
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
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` if the charset is not
    ///   supported, the bytes are not in it, or the C library has no converter for it.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> String {
        try validation.validate(response)
        if response.body.isEmpty { return "" }
        let charset = try charset(of: response)
        do {
            return try charset.text(of: response.body)
        } catch {
            throw SerializationError(
                unreadable: response, "The body is not text in \(charset)", reason: "\(error)", underlying: error)
        }
    }

    private func charset(of response: SerializedResponse) throws(SerializationError) -> Charset {
        let name = response.mediaType?.parameter("charset")
        let label = name?.lowercased() ?? ""
        if let marked = Charset(byteOrderMarkOf: response.body), isMark(of: marked, in: response.body, label: label) {
            return marked
        }
        guard let name else { return fallbackCharset }
        guard let charset = charsets.first(where: { $0.description == label }) ?? Charset(name: label) else {
            throw SerializationError(
                code: .decodingFailed,
                message: "The charset \(name.debugDescription) is not known.",
                response: response
            )
        }
        return charset
    }

    /// Whether the mark decides. The decoders of UTF-16 and UTF-32 handle their own marks. UTF-16 text that begins
    /// with U+0000 has the mark of UTF-32; a body that is labeled UTF-16 is read as UTF-32 only if all of it is
    /// valid.
    private func isMark(of marked: Charset, in body: Data, label: String) -> Bool {
        guard marked != .utf8, label.hasPrefix("utf-16") || label.hasPrefix("utf-32") else { return true }
        let isWide = marked == .utf32LittleEndian || marked == .utf32BigEndian
        return isWide && label.hasPrefix("utf-16") && marked.decode(body) != nil
    }
}

extension StringResponseSerializer {
    private enum CodingKeys: String, CodingKey { case validation, fallbackCharset, charsets }

    /// Decodes a serializer; the default of ``charsets`` is empty.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        validation = try container.decode(ResponseValidation.self, forKey: .validation)
        fallbackCharset = try container.decode(Charset.self, forKey: .fallbackCharset)
        charsets = try container.decodeIfPresent([Charset].self, forKey: .charsets) ?? []
    }
}
