public import HTTPTypes

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
