public import HTTPTypes

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
