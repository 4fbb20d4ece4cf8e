import FoundationEssentials
public import HTTPTypes

/// Writes parameters as `application/x-www-form-urlencoded`: into the query for GET, HEAD and DELETE, otherwise into the
/// body.
///
/// ```swift
/// let serializer = FormRequestSerializer()
/// let request = try serializer.serialize(Request(url: url), parameters: ["q": "swift", "page": 2])
/// ```
public struct FormRequestSerializer: RequestSerializer, Hashable {
    /// Fields for each request that does not have them; the default is ``defaultHeaderFields``.
    public var headerFields: HTTPFields
    /// The methods whose parameters go into the query; the default is GET, HEAD and DELETE.
    public var methodsEncodingParametersInURL: Set<HTTPRequest.Method>
    /// How parameters are written; the default is AFNetworking's way.
    public var queryEncoder: QueryEncoder

    /// `Accept-Language` from the environment's locale with falling q-values, and
    /// `User-Agent: program/0 (Linux; x86_64) Linnet/0.1`.
    ///
    /// A program on Linux carries no version, so 0 stands for it; set your own `User-Agent` to say more.
    public static var defaultHeaderFields: HTTPFields { DefaultHeaderFields.standard }

    /// Creates a serializer.
    public init(
        headerFields: HTTPFields = defaultHeaderFields,
        methodsEncodingParametersInURL: Set<HTTPRequest.Method> = [.get, .head, .delete],
        queryEncoder: QueryEncoder = QueryEncoder()
    ) {
        self.headerFields = headerFields
        self.methodsEncodingParametersInURL = methodsEncodingParametersInURL
        self.queryEncoder = queryEncoder
    }

    /// Sets the `Authorization` field to HTTP's Basic scheme, for every request (RFC 7617).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the user name holds a colon.
    public mutating func setBasicAuthorization(username: String, password: String) throws(SerializationError) {
        try headerFields.setBasicAuthorization(username: username, password: password)
    }

    /// Removes the `Authorization` field.
    public mutating func clearAuthorization() { headerFields[.authorization] = nil }

    /// Returns the request with the parameters in its query or body, and the fields it lacks.
    ///
    /// Without parameters, a method with a body gets an empty one, and the form's Content-Type; a body that the request
    /// has is left as it is.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` when the parameters have no
    ///   names, or would replace a body that the request has.
    public func serialize(_ request: Request, parameters: Parameters?) throws(SerializationError) -> Request {
        var request = request
        request.headerFields.addMissing(headerFields)
        if methodsEncodingParametersInURL.contains(request.method) {
            try request.appendQuery(parameters, encoder: queryEncoder)
            return request
        }
        if parameters == nil, request.body != nil { return request }
        let text = try queryEncoder.encode(parameters ?? Parameters())
        try request.setBody(Data(text.utf8), contentType: "application/x-www-form-urlencoded")
        return request
    }
}
