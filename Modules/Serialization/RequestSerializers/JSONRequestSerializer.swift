import FoundationEssentials
public import HTTPTypes

/// Writes parameters as a JSON body; for GET, HEAD and DELETE into the query, as ``FormRequestSerializer`` does.
///
/// Dates are written in ISO 8601 and data in Base64. Without parameters there is no body and no Content-Type.
public struct JSONRequestSerializer: RequestSerializer, Hashable {
    /// Fields for each request that does not have them; the default is ``FormRequestSerializer/defaultHeaderFields``.
    public var headerFields: HTTPFields
    /// The methods whose parameters go into the query; the default is GET, HEAD and DELETE.
    public var methodsEncodingParametersInURL: Set<HTTPRequest.Method>
    /// How parameters are written into a query.
    public var queryEncoder: QueryEncoder
    /// How JSON is written; the default is on one line, in the parameters' own order.
    public var options: JSONWritingOptions

    /// Creates a serializer.
    public init(
        options: JSONWritingOptions = JSONWritingOptions(),
        headerFields: HTTPFields = FormRequestSerializer.defaultHeaderFields,
        methodsEncodingParametersInURL: Set<HTTPRequest.Method> = [.get, .head, .delete],
        queryEncoder: QueryEncoder = QueryEncoder()
    ) {
        self.options = options
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
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/encodingFailed`` for a NaN or an infinity, and
    ///   ``SerializationError/Code/invalidParameters`` for a set, or for parameters that would replace a body.
    public func serialize(_ request: Request, parameters: Parameters?) throws(SerializationError) -> Request {
        var request = request
        request.headerFields.addMissing(headerFields)
        if methodsEncodingParametersInURL.contains(request.method) {
            try request.appendQuery(parameters, encoder: queryEncoder)
        } else if let parameters {
            let bytes = try ParameterJSONWriter.write(parameters.root, options: options)
            try request.setBody(Data(bytes), contentType: "application/json")
        }
        return request
    }
}
