public import HTTPTypes

/// Writes parameters into a request, and adds the header fields that go with them.
///
/// A serializer is a value: a request keeps the serializer that it started with. Those of this module are static members,
/// so that a configuration reads `$0.requestSerializer = .json`.
public protocol RequestSerializer: Sendable {
    /// Returns the request with the parameters in its URL or body.
    ///
    /// Header fields of the request are never replaced.
    func serialize(_ request: Request, parameters: Parameters?) throws(SerializationError) -> Request
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

/// A request serializer with ``RequestSerializerSettings``, as AFHTTPRequestSerializer's subclasses were.
///
/// Whoever writes one of their own fills in ``body(for:of:)`` alone: fields, options, the query and the rule that a
/// request's own body and fields win come with it.
public protocol HTTPRequestSerializer: RequestSerializer {
    /// Header fields, options, and what goes into the query.
    var settings: RequestSerializerSettings { get set }

    /// The body that the parameters make, for a method that does not take them in the query; nil for none.
    ///
    /// `parameters` is nil if the caller gave none.
    func body(for parameters: Parameters?, of request: Request) throws(SerializationError) -> SerializedBody?
}

/// A body with the media type that it has unless the request says another.
public struct SerializedBody: Sendable {
    /// The content.
    public var content: HTTPBody
    /// The value of the Content-Type field; nil adds none.
    public var contentType: String?

    /// Creates a body.
    public init(_ content: HTTPBody, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }
}

extension HTTPRequestSerializer {
    /// Fields for each request that does not have them; the default is ``FormRequestSerializer/defaultHeaderFields``.
    public var headerFields: HTTPFields {
        get { settings.headerFields }
        set { settings.headerFields = newValue }
    }

    /// Options for each request, where it says nothing of its own; the default leaves all to the session.
    public var requestOptions: RequestOptions {
        get { settings.requestOptions }
        set { settings.requestOptions = newValue }
    }

    /// The methods whose parameters go into the query; the default is GET, HEAD and DELETE.
    public var methodsEncodingParametersInURL: Set<HTTPRequest.Method> {
        get { settings.methodsEncodingParametersInURL }
        set { settings.methodsEncodingParametersInURL = newValue }
    }

    /// How parameters are written into a query, or a form; the default is AFNetworking's way.
    public var queryEncoder: QueryEncoder {
        get { settings.queryEncoder }
        set { settings.queryEncoder = newValue }
    }

    /// Sets the `Authorization` field to HTTP's Basic scheme, for every request (RFC 7617).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the user name holds a
    ///   colon, or either holds a control character.
    public mutating func setBasicAuthorization(
        username: String,
        password: String
    ) throws(SerializationError) {
        try settings.headerFields.setBasicAuthorization(username: username, password: password)
    }

    /// Sets the `Authorization` field to the Bearer scheme, for every request (RFC 6750).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if it is no such token.
    public mutating func setBearerAuthorization(token: String) throws(SerializationError) {
        try settings.headerFields.setBearerAuthorization(token: token)
    }

    /// Removes the `Authorization` field.
    public mutating func clearAuthorization() { settings.headerFields[.authorization] = nil }

    /// Returns the request with the parameters in its query or body, and the fields and options that it lacks.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` when the parameters do not
    ///   fit, or would replace a body that the request has; with ``SerializationError/Code/encodingFailed`` when a
    ///   value cannot be written; with ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    public func serialize(_ request: Request, parameters: Parameters?) throws(SerializationError) -> Request {
        var complete = settings.complete(request)
        // Cheaper than a hash for the few that there are.
        if settings.methodsEncodingParametersInURL.contains(where: { $0 == request.method }) {
            try complete.appendQuery(parameters, encoder: queryEncoder)
        } else if parameters != nil || request.body == nil, let body = try body(for: parameters, of: complete) {
            try complete.setBody(body)
        }
        return complete
    }
}

/// What the serializers of this module have in common: header fields, options, and what goes into the query.
///
/// It is Codable unless its query encoder asks a closure. Mind that `headerFields` may hold a password or a token.
public struct RequestSerializerSettings: Sendable, Hashable {
    /// Fields for each request that does not have them; the default is ``FormRequestSerializer/defaultHeaderFields``.
    public var headerFields: HTTPFields
    /// Options for each request, where it says nothing of its own; the default leaves all to the session.
    public var requestOptions: RequestOptions
    /// The methods whose parameters go into the query; the default is GET, HEAD and DELETE.
    public var methodsEncodingParametersInURL: Set<HTTPRequest.Method>
    /// How parameters are written into a query, or a form; the default is AFNetworking's way.
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

    /// Gives the request the fields and options that it lacks.
    func complete(_ request: Request) -> Request {
        var request = request
        request.headerFields.addMissing(headerFields)
        request.options = request.options.filled(from: requestOptions)
        return request
    }
}

extension RequestSerializerSettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case headerFields, requestOptions, methodsEncodingParametersInURL, queryEncoder
    }

    /// Reads settings; what is missing has its default.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let fields = try container.decodeIfPresent(HTTPFields.self, forKey: .headerFields) { headerFields = fields }
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

    /// Writes the settings; throws `EncodingError` if the query encoder asks a closure, which cannot be written.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(headerFields, forKey: .headerFields)
        try container.encode(requestOptions, forKey: .requestOptions)
        let names = methodsEncodingParametersInURL.map(\.rawValue).sorted()
        try container.encode(names, forKey: .methodsEncodingParametersInURL)
        try container.encode(queryEncoder, forKey: .queryEncoder)
    }
}
