import FoundationEssentials
public import LinnetSerialization

/// Reads an XML body into a tree.
///
/// Nothing outside the body is ever loaded, and a document that declares entities is refused: a few lines of them can
/// grow to gigabytes.
public struct XMLResponseSerializer: ResponseSerializer, Hashable {
    /// What is accepted; the default is a status of 200 to 299 with ``xmlContentTypes``.
    public var validation: ResponseValidation
    /// How deep elements may be nested; the default is 256, the highest is 1024.
    ///
    /// The XML library may stop before.
    public var maximumDepth: Int {
        get { depth }
        set { depth = min(max(newValue, 1), 1024) }
    }

    private var depth: Int

    /// `application/xml`, `text/xml`, and whatever ends in `+xml`.
    public static let xmlContentTypes = ["application/xml", "text/xml", "*/*+xml"]

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: xmlContentTypes),
        maximumDepth: Int = 256
    ) {
        self.validation = validation
        depth = min(max(maximumDepth, 1), 1024)
    }

    /// Validates the response and reads its body; an empty body gives nil.
    ///
    /// - Throws: `SerializationError` with `decodingFailed`, or `nestedTooDeep`.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> XMLTree? {
        try validation.validate(response)
        if response.body.isEmpty { return nil }
        do {
            return try XMLTreeBuilder.build(from: response.body, maximumDepth: depth)
        } catch {
            throw SerializationError(
                code: error.kind == .nestedTooDeep ? .nestedTooDeep : .decodingFailed,
                message: "the body is not acceptable XML: \(error)",
                underlying: error,
                response: response
            )
        }
    }
}
