import FoundationEssentials

/// Sends bytes of the caller's as they are; parameters go into the query, whatever the method.
///
/// ```swift
/// let serializer = BodyRequestSerializer(.data(image), contentType: "image/png")
/// let request = try serializer.serialize(Request(url: url, method: .put), parameters: ["name": "a.png"])
/// ```
public struct BodyRequestSerializer: RequestSerializer {
    /// Header fields, options, and how a query is written. Its methods do not count.
    public var settings: RequestSerializerSettings
    /// The content.
    public var body: HTTPBody
    /// The value of the Content-Type field, for a request that has none.
    public var contentType: String?

    /// Creates a serializer.
    ///
    /// The default of `contentType` is `application/octet-stream`; nil adds none.
    public init(
        _ body: HTTPBody,
        contentType: String? = "application/octet-stream",
        settings: RequestSerializerSettings = RequestSerializerSettings()
    ) {
        self.body = body
        self.contentType = contentType
        self.settings = settings
    }

    /// Creates a serializer that sends a text, in UTF-8.
    public init(
        text: String,
        contentType: String? = "text/plain; charset=utf-8",
        settings: RequestSerializerSettings = RequestSerializerSettings()
    ) {
        self.init(.data(Data(text.utf8)), contentType: contentType, settings: settings)
    }

    /// Returns the request with the body, with the parameters in its query, and the fields and options that it lacks.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` when the request has a body
    ///   already, or the parameters have no names.
    public func serialize(_ request: Request, parameters: Parameters?) throws(SerializationError) -> Request {
        var complete = settings.complete(request)
        try complete.appendQuery(parameters, encoder: settings.queryEncoder)
        try complete.setBody(SerializedBody(body, contentType: contentType))
        return complete
    }
}
