public import FoundationEssentials
public import HTTPTypes
public import LinnetJSON
public import LinnetMessages

/// Validates a response and reads its body as a value.
///
/// The serializers of this module are static members, so that a call of a session reads `call.response(.string)`.
public protocol ResponseSerializer<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with the response and its body. An unacceptable status takes precedence over a
    ///   body that cannot be read.
    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// Returns the body unchanged, with the default validation.
    public static var data: Self { Self() }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// Reads the body as text, with the defaults.
    public static var string: Self { Self() }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
    /// Reads the body as a `JSONValue`, with the defaults.
    public static var json: Self { Self() }
}

extension ResponseSerializer where Self == PropertyListResponseSerializer {
    /// Reads the body as a ``PropertyListValue``, with the defaults.
    public static var propertyList: Self { Self() }
}

extension ResponseSerializer {
    /// Decodes a JSON body as a type.
    public static func decodable<T>(_ type: T.Type, decoder: JSONBodyDecoder = JSONBodyDecoder()) -> Self
    where Self == DecodableResponseSerializer<T> {
        Self(type, decoder: decoder)
    }

    /// Decodes a body that is a property list as a type.
    public static func propertyList<T>(_ type: T.Type) -> Self
    where Self == DecodablePropertyListResponseSerializer<T> {
        Self(type)
    }
}

/// A response with its whole body, for response serializers.
public struct SerializedResponse: Sendable {
    /// The URL of the response, after redirects.
    public var url: URL?
    /// The status and the header fields.
    public var head: HTTPResponse
    /// The content. A content coding that Content-Encoding names is not undone (RFC 9110, section 8.4); a session that
    /// undoes codings removes the field.
    public var body: Data
    /// The method of the request; nil if it is not known. A response to HEAD has no content, whatever its fields say.
    public var requestMethod: HTTPRequest.Method?

    /// Creates a response.
    public init(url: URL? = nil, head: HTTPResponse, body: Data = Data(), requestMethod: HTTPRequest.Method? = nil) {
        self.url = url
        self.head = head
        self.body = body
        self.requestMethod = requestMethod
    }

    /// The media type in Content-Type; nil if the field is missing or malformed. If the server sent the field several
    /// times, the last valid value counts (WHATWG Fetch, "extract a MIME type").
    public var mediaType: MIMEType? {
        head.headerFields[.contentType].flatMap(MIMEType.init(contentType:))
    }

    /// Whether HTTP allows the response to have content: not with 1xx, 204, 205 or 304, and not in reply to HEAD
    /// (RFC 9110, sections 6.4.1 and 15.3.6).
    var allowsContent: Bool {
        let status = head.status.code
        return status >= 200 && ![204, 205, 304].contains(status) && requestMethod != .head
    }
}

extension SerializationError {
    /// The error for a body that cannot be decoded. If the body still has a content coding, the message names it as the
    /// reason, because it explains the decoder's error.
    ///
    /// - Parameters:
    ///   - response: The response with the body.
    ///   - code: The code; the default is ``Code/decodingFailed``.
    ///   - problem: The beginning of the message, such as "The body is not JSON".
    ///   - reason: The end of the message, with or without its full stop.
    ///   - underlying: The decoder's error.
    package init(
        unreadable response: SerializedResponse, code: Code = .decodingFailed, _ problem: String, reason: String,
        underlying: any Error
    ) {
        let coding = response.head.headerFields[.contentEncoding]?.lowercased() ?? "identity"
        let shown = String(coding.prefix(40)).debugDescription
        let cause =
            coding == "identity"
            ? reason : "its Content-Encoding \(shown) has not been decoded"
        self.init(
            code: code, message: "\(problem): \(cause)" + (cause.hasSuffix(".") ? "" : "."), underlying: underlying,
            response: response)
    }
}

/// Returns the body unchanged.
public struct DataResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with any content type.
    public var validation: ResponseValidation

    /// Creates a serializer.
    public init(validation: ResponseValidation = ResponseValidation()) { self.validation = validation }

    /// Validates the response and returns its body.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Data {
        try validation.validate(response)
        return response.body
    }
}

/// Transforms the value of another serializer.
private struct MapResponseSerializer<Base: ResponseSerializer, Value: Sendable>: ResponseSerializer {
    let base: Base
    let transform: @Sendable (Base.Value) throws -> Value

    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        let value = try base.serialize(response)
        do {
            return try transform(value)
        } catch let error as SerializationError {
            throw error
        } catch {
            throw SerializationError(
                code: .decodingFailed,
                message: "The closure that makes a \(Value.self) of the value failed: \(reason(of: error)).",
                underlying: error,
                response: response
            )
        }
    }
}

extension ResponseSerializer {
    /// A serializer that transforms the value of this one, for example into a case of an enum for
    /// ``CompoundResponseSerializer``.
    ///
    /// If the closure throws, the error is a ``SerializationError`` with ``SerializationError/Code/decodingFailed``,
    /// and the closure's error underlies it.
    public func map<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Mapped
    ) -> some ResponseSerializer<Mapped> {
        MapResponseSerializer(base: self, transform: transform)
    }
}
