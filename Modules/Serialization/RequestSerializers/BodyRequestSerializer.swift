import FoundationEssentials

/// Sends a given body; parameters go into the query for all methods.
///
/// ```swift
/// let serializer = BodyRequestSerializer(.data(image), contentType: "image/png")
/// let request = try serializer.serialize(SessionRequest(url: url, method: .put), parameters: ["name": "a.png"])
/// ```
public struct BodyRequestSerializer: RequestSerializer {
    /// Header fields, options, and how a query is written. Its methods are ignored.
    public var settings: RequestSerializerSettings
    /// The content.
    public var body: HTTPRequestBody
    /// The value of the Content-Type field, for a request without one.
    public var contentType: String?

    /// Creates a serializer.
    ///
    /// The default of `contentType` is `application/octet-stream`; nil adds no field.
    public init(
        _ body: HTTPRequestBody,
        contentType: String? = "application/octet-stream",
        settings: RequestSerializerSettings = RequestSerializerSettings()
    ) {
        self.body = body
        self.contentType = contentType
        self.settings = settings
    }

    /// Creates a serializer for a text in UTF-8.
    public init(
        text: String,
        contentType: String? = "text/plain; charset=utf-8",
        settings: RequestSerializerSettings = RequestSerializerSettings()
    ) {
        self.init(.data(Data(text.utf8)), contentType: contentType, settings: settings)
    }

    /// Returns the request with the body, the parameters in its query, and missing fields and options.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` if the request has a body,
    ///   or the parameters have no names.
    public func serialize(_ request: SessionRequest, parameters: RequestParameters?) throws(SerializationError)
        -> SessionRequest
    {
        var complete = settings.complete(request)
        try complete.appendQuery(parameters, encoder: settings.queryEncoder)
        try complete.setBody(SerializedBody(body, contentType: contentType))
        return complete
    }
}
