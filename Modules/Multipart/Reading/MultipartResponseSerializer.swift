import FoundationEssentials
import HTTPTypes
public import LinnetSerialization

/// Reads a multipart response into its parts; an empty body gives none.
///
/// In `multipart/byteranges`, ``MultipartPart/byteRange`` is the range of a part.
public struct MultipartResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with `multipart/*`.
    public var validation: ResponseValidation
    /// The limits for the body.
    public var limits: MultipartParser.Limits
    /// Whether multipart parts are parsed. The default is false.
    public var readsNestedParts: Bool

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: ["multipart/*"]),
        limits: MultipartParser.Limits = MultipartParser.Limits(), readsNestedParts: Bool = false
    ) {
        self.validation = validation
        self.limits = limits
        self.readsNestedParts = readsNestedParts
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: `SerializationError` with `decodingFailed` or `nestedTooDeep`, whose underlying error is a
    ///   ``MultipartError``.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> [MultipartPart] {
        try validation.validate(response)
        if response.body.isEmpty { return [] }
        do {
            return try MultipartPart.all(
                in: response.body, contentType: response.head.headerFields[.contentType] ?? "", limits: limits,
                readsNestedParts: readsNestedParts)
        } catch {
            throw SerializationError(
                unreadable: response, code: error.code == .nestedTooDeep ? .nestedTooDeep : .decodingFailed,
                "The body cannot be read as multipart", reason: error.message, underlying: error)
        }
    }
}

extension ResponseSerializer where Self == MultipartResponseSerializer {
    /// Reads the body as parts, with the defaults.
    public static var multipart: Self { Self() }
}
