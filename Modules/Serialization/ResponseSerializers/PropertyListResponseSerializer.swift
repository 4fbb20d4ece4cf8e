import FoundationEssentials

/// Reads the body as a property list, in XML or binary; an empty body gives nil.
public struct PropertyListResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// What is accepted; the default is a status of 200 to 299 with ``propertyListContentTypes``.
    public var validation: ResponseValidation
    /// The limits of what is read.
    public var options: PropertyListParsingOptions

    /// `application/x-plist`, `application/x-apple-plist`, and the types that web servers give to XML.
    public static let propertyListContentTypes = [
        "application/x-plist", "application/x-apple-plist", "application/x-apple-binary-plist", "application/xml",
        "text/xml",
    ]

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: propertyListContentTypes),
        options: PropertyListParsingOptions = PropertyListParsingOptions()
    ) {
        self.validation = validation
        self.options = options
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` or
    ///   ``SerializationError/Code/nestedTooDeep``; a ``PropertyListSyntaxError`` underlies it and says where.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> PropertyListValue? {
        try validation.validate(response)
        if response.body.isEmpty { return nil }
        return try Self.read(response, options: options)
    }

    static func read(
        _ response: SerializedResponse,
        options: PropertyListParsingOptions
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
