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
