import FoundationEssentials

/// Reads the body as a property list in XML or binary; an empty body gives nil.
public struct PropertyListResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with ``propertyListContentTypes``.
    public var validation: ResponseValidation
    /// The limits for parsing.
    public var options: PropertyListValue.ParsingOptions

    /// `application/x-plist`, `application/x-apple-plist`, and the types that servers use for XML.
    public static let propertyListContentTypes = [
        "application/x-plist", "application/x-apple-plist", "application/x-apple-binary-plist", "application/xml",
        "text/xml",
    ]

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: propertyListContentTypes),
        options: PropertyListValue.ParsingOptions = PropertyListValue.ParsingOptions()
    ) {
        self.validation = validation
        self.options = options
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` or
    ///   ``SerializationError/Code/nestedTooDeep``, whose underlying error is a ``PropertyListSyntaxError``.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> PropertyListValue? {
        try validation.validate(response)
        if response.body.isEmpty { return nil }
        return try Self.read(response, options: options)
    }

    static func read(
        _ response: SerializedResponse,
        options: PropertyListValue.ParsingOptions
    ) throws(SerializationError) -> PropertyListValue {
        do {
            return try PropertyListValue(parsing: response.body, options: options)
        } catch {
            throw SerializationError(
                unreadable: response, code: error.kind == .nestedTooDeep ? .nestedTooDeep : .decodingFailed,
                "The body is not an acceptable property list", reason: error.reason, underlying: error)
        }
    }
}
