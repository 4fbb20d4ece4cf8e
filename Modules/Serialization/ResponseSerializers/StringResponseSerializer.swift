import FoundationEssentials

/// Reads the body as a text.
///
/// The charset is that of a byte order mark if the body begins with one, else the one that Content-Type names, else
/// ``fallbackCharset``. Bytes that are not in that charset are an error; nothing is replaced.
public struct StringResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// What is accepted; the default is a status of 200 to 299 with any content type.
    public var validation: ResponseValidation
    /// The charset when the response names none; the default is UTF-8.
    public var fallbackCharset: Charset

    /// Creates a serializer.
    public init(validation: ResponseValidation = ResponseValidation(), fallbackCharset: Charset = .utf8) {
        self.validation = validation
        self.fallbackCharset = fallbackCharset
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` when the charset is not known
    ///   here, or the bytes are not in it.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> String {
        try validation.validate(response)
        let charset = try charset(of: response)
        guard let text = charset.decode(response.body) else {
            throw SerializationError(
                code: .decodingFailed,
                message: "The body is not a text in \(charset).",
                response: response
            )
        }
        return text
    }

    private func charset(of response: SerializedResponse) throws(SerializationError) -> Charset {
        if response.body.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        let name = response.mediaType?.parameter("charset")
        if name?.lowercased().hasPrefix("utf-16") != true {
            if response.body.starts(with: [0xFE, 0xFF]) { return .utf16BigEndian }
            if response.body.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
        }
        guard let name else { return fallbackCharset }
        guard let charset = Charset(name: name) else {
            throw SerializationError(
                code: .decodingFailed,
                message: "The charset \(name.debugDescription) is not known.",
                response: response
            )
        }
        return charset
    }
}
