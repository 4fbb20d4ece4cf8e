public import HTTPTypes

/// Writes parameters into a request, and adds the header fields that go with them.
///
/// A serializer is a value: a request keeps the serializer that it started with. The serializers of this module are
/// static members, so that a configuration reads `$0.requestSerializer = .json`.
public protocol RequestSerializer: Sendable {
    /// Returns the request with the parameters in its URL or body.
    ///
    /// Header fields of the request are never replaced.
    func serialize(_ request: SessionRequest, parameters: RequestParameters?) throws(SerializationError)
        -> SessionRequest
}

extension RequestSerializer where Self == FormRequestSerializer {
    /// Writes a query or a form, with the defaults.
    public static var form: Self { Self() }
}

extension RequestSerializer where Self == JSONRequestSerializer {
    /// Writes a query or a JSON body, with the defaults.
    public static var json: Self { Self() }
}

extension RequestSerializer where Self == PropertyListRequestSerializer {
    /// Writes a query or a property list in XML, with the defaults.
    public static var propertyList: Self { Self() }
}

/// A request serializer with ``RequestSerializerSettings``, as with AFHTTPRequestSerializer's subclasses.
///
/// A conforming type implements ``body(for:of:)``. The extension handles fields, options and the query, and keeps the
/// request's own body and fields.
public protocol HTTPRequestSerializer: RequestSerializer {
    /// Header fields, options, and how a query is written.
    var settings: RequestSerializerSettings { get set }

    /// The body for the parameters, for methods that do not write them into the query; nil for none.
    ///
    /// `parameters` is nil without parameters.
    func body(for parameters: RequestParameters?, of request: SessionRequest) throws(SerializationError)
        -> SerializedBody?
}

/// A body with its default media type.
public struct SerializedBody: Sendable {
    /// The content.
    public var content: HTTPRequestBody
    /// The value of the Content-Type field, for a request without one; nil adds none.
    public var contentType: String?

    /// Creates a body.
    public init(_ content: HTTPRequestBody, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }
}

extension HTTPRequestSerializer {
    /// Default header fields for each request; the default is ``FormRequestSerializer/defaultHeaderFields``.
    public var headerFields: HTTPFields {
        get { settings.headerFields }
        set { settings.headerFields = newValue }
    }

    /// Default options for each request; the default leaves them to the session.
    public var requestOptions: RequestOptions {
        get { settings.requestOptions }
        set { settings.requestOptions = newValue }
    }

    /// The methods that put parameters into the query; the default is GET, HEAD and DELETE.
    public var methodsEncodingParametersInURL: Set<HTTPRequest.Method> {
        get { settings.methodsEncodingParametersInURL }
        set { settings.methodsEncodingParametersInURL = newValue }
    }

    /// How parameters are written into a query or a form; the default follows AFNetworking.
    public var queryEncoder: QueryEncoder {
        get { settings.queryEncoder }
        set { settings.queryEncoder = newValue }
    }

    /// Sets the `Authorization` field to the Basic scheme for all requests (RFC 7617).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the user name contains a
    ///   colon, or one of the two contains a control character.
    public mutating func setBasicAuthorization(
        username: String,
        password: String
    ) throws(SerializationError) {
        try settings.headerFields.setBasicAuthorization(username: username, password: password)
    }

    /// Sets the `Authorization` field to the Bearer scheme for all requests (RFC 6750).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the token is invalid.
    public mutating func setBearerAuthorization(token: String) throws(SerializationError) {
        try settings.headerFields.setBearerAuthorization(token: token)
    }

    /// Removes the `Authorization` field.
    public mutating func clearAuthorization() { settings.headerFields[.authorization] = nil }

    /// Returns the request with the parameters in its query or body, and with missing fields and options.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` if the parameters do not
    ///   suit the format, or the request has a body; with ``SerializationError/Code/encodingFailed`` if a value
    ///   cannot be encoded; with ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    public func serialize(_ request: SessionRequest, parameters: RequestParameters?) throws(SerializationError)
        -> SessionRequest
    {
        var complete = settings.complete(request)
        // Faster than hashing for so few elements.
        if settings.methodsEncodingParametersInURL.contains(where: { $0 == request.method }) {
            try complete.appendQuery(parameters, encoder: queryEncoder)
        } else if parameters != nil || request.body == nil, let body = try body(for: parameters, of: complete) {
            try complete.setBody(body)
        }
        return complete
    }
}

/// The settings that the serializers of this module share.
///
/// They are Codable unless the query encoder has a closure. `headerFields` may contain a password or a token.
public struct RequestSerializerSettings: Sendable, Hashable {
    /// Default header fields for each request; the default is ``FormRequestSerializer/defaultHeaderFields``.
    public var headerFields: HTTPFields
    /// Default options for each request; the default leaves them to the session.
    public var requestOptions: RequestOptions
    /// The methods that put parameters into the query; the default is GET, HEAD and DELETE.
    public var methodsEncodingParametersInURL: Set<HTTPRequest.Method>
    /// How parameters are written into a query or a form; the default follows AFNetworking.
    public var queryEncoder: QueryEncoder

    /// Creates settings.
    public init(
        headerFields: HTTPFields = FormRequestSerializer.defaultHeaderFields,
        requestOptions: RequestOptions = RequestOptions(),
        methodsEncodingParametersInURL: Set<HTTPRequest.Method> = [.get, .head, .delete],
        queryEncoder: QueryEncoder = QueryEncoder()
    ) {
        self.headerFields = headerFields
        self.requestOptions = requestOptions
        self.methodsEncodingParametersInURL = methodsEncodingParametersInURL
        self.queryEncoder = queryEncoder
    }

    /// Adds missing fields and options to a request.
    func complete(_ request: consuming SessionRequest) -> SessionRequest {
        request.headerFields.addMissing(headerFields)
        request.options = request.options.filled(from: requestOptions)
        return request
    }
}

extension RequestSerializerSettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case headerFields, requestOptions, methodsEncodingParametersInURL, queryEncoder
    }

    /// Decodes settings; missing ones have their defaults. More than 1,000 header fields are an error.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        headerFields = try container.headerFields(.headerFields) ?? headerFields
        if let options = try container.decodeIfPresent(RequestOptions.self, forKey: .requestOptions) {
            requestOptions = options
        }
        if let encoder = try container.decodeIfPresent(QueryEncoder.self, forKey: .queryEncoder) {
            queryEncoder = encoder
        }
        guard let names = try container.decodeIfPresent([String].self, forKey: .methodsEncodingParametersInURL) else {
            return
        }
        methodsEncodingParametersInURL = Set(
            try names.map { name in
                if let method = HTTPRequest.Method(name) { return method }
                throw DecodingError.dataCorruptedError(
                    forKey: .methodsEncodingParametersInURL,
                    in: container,
                    debugDescription: "\(name.debugDescription) is not a method."
                )
            }
        )
    }

    /// Encodes the settings; throws `EncodingError` if the query encoder has a closure.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(headerFields, forKey: .headerFields)
        try container.encode(requestOptions, forKey: .requestOptions)
        let names = methodsEncodingParametersInURL.map(\.rawValue).sorted()
        try container.encode(names, forKey: .methodsEncodingParametersInURL)
        try container.encode(queryEncoder, forKey: .queryEncoder)
    }
}
