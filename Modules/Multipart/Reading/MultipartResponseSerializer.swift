import FoundationEssentials
import HTTPTypes
public import LinnetSerialization

/// Reads a multipart response into its parts; an empty body gives none.
///
/// For `multipart/byteranges`, each part says which bytes it is (``MultipartPart/byteRange``).
public struct MultipartResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// What is accepted; the default is a status of 200 to 299 with `multipart/*`.
    public var validation: ResponseValidation
    /// What the body may cost.
    public var limits: MultipartLimits
    /// Whether parts that are multipart are taken apart, too. The default is false.
    public var readsNestedParts: Bool

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: ["multipart/*"]),
        limits: MultipartLimits = MultipartLimits(), readsNestedParts: Bool = false
    ) {
        self.validation = validation
        self.limits = limits
        self.readsNestedParts = readsNestedParts
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: `SerializationError` with `decodingFailed`, or `nestedTooDeep`; a ``MultipartError`` underlies it.
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
