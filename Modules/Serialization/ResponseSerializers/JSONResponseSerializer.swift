import FoundationEssentials

/// Reads the body as a tree of JSON values.
///
/// An empty body, and one that is a single space, give nil.
public struct JSONResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// What is accepted; the default is a status of 200 to 299 with ``jsonContentTypes``.
    public var validation: ResponseValidation
    /// Whether names and elements whose value is null are left out, at any depth, as AFNetworking 4 did it; the default
    /// is false. A null at the top stays.
    public var removesNullValues: Bool
    /// How the text is read.
    public var options: JSONParsingOptions

    /// `application/json`, `text/json`, `text/javascript`, and whatever ends in `+json`.
    public static let jsonContentTypes = ["application/json", "text/json", "text/javascript", "*/*+json"]

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: jsonContentTypes),
        removesNullValues: Bool = false,
        options: JSONParsingOptions = JSONParsingOptions()
    ) {
        self.validation = validation
        self.removesNullValues = removesNullValues
        self.options = options
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` or
    ///   ``SerializationError/Code/nestedTooDeep``; a ``JSONSyntaxError`` underlies it and says where.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> JSONValue? {
        try validation.validate(response)
        let body = response.body
        if body.isEmpty || body.count == 1 && body.first == UInt8(ascii: " ") { return nil }
        do {
            let value = try JSONValue(parsing: body, options: options)
            return removesNullValues ? value.removingNullValues() : value
        } catch {
            throw SerializationError(
                unreadable: response, code: error.kind == .nestedTooDeep ? .nestedTooDeep : .decodingFailed,
                "The body is not JSON", reason: error.reason, underlying: error)
        }
    }
}
