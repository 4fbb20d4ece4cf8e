import FoundationEssentials
public import LinnetJSON

/// Reads the body as a `JSONValue`.
///
/// An empty body, or a body of a single space, gives nil.
public struct JSONResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with ``jsonContentTypes``.
    public var validation: ResponseValidation
    /// Whether names and elements that are null are removed at any depth, as with AFNetworking 4's option; the
    /// default is false. A top-level null stays.
    public var removesNullValues: Bool
    /// How the text is parsed.
    public var options: JSONValue.ParsingOptions

    /// `application/json`, `text/json`, `text/javascript`, and types with the suffix `+json`.
    public static let jsonContentTypes = ["application/json", "text/json", "text/javascript", "*/*+json"]

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: jsonContentTypes),
        removesNullValues: Bool = false,
        options: JSONValue.ParsingOptions = JSONValue.ParsingOptions()
    ) {
        self.validation = validation
        self.removesNullValues = removesNullValues
        self.options = options
    }

    /// Decodes a serializer; missing settings have their defaults.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        validation = try container.decodeIfPresent(ResponseValidation.self, forKey: .validation) ?? validation
        removesNullValues = try container.decodeIfPresent(Bool.self, forKey: .removesNullValues) ?? removesNullValues
        options = try container.decodeIfPresent(JSONValue.ParsingOptions.self, forKey: .options) ?? options
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` or
    ///   ``SerializationError/Code/nestedTooDeep``, whose underlying error is a `JSONSyntaxError`.
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
