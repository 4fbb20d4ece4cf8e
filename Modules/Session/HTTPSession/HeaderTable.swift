internal import HTTPTypes
internal import LinnetSerialization

/// The header fields that a session adds to its requests.
struct HeaderTable: Sendable {
    /// The fields of the configuration, changed by ``HTTPSession/setHeader(_:_:)``.
    var own: HTTPFields {
        didSet { merge() }
    }
    /// The own fields, completed by the fields of the session's serializer and its codings. Requests share this value;
    /// merging for each request would copy the fields.
    private(set) var merged = HTTPFields()
    /// The fields of the serializer; nil if they are not known.
    private let serializers: HTTPFields?
    /// The field that lists the accepted content codings; none in a session without codings.
    let codings: HTTPFields
    /// The fields for requests that the caller made: the accepted content codings, and the serializer's User-Agent and
    /// Accept-Language.
    let given: HTTPFields

    init(_ configuration: HTTPSession.Configuration, _ codings: CodingLink?) {
        own = configuration.headerFields
        let serializer = configuration.requestSerializer
        serializers =
            (serializer as? FormRequestSerializer)?.headerFields ?? (serializer as? JSONRequestSerializer)?.headerFields
            ?? (serializer as? PropertyListRequestSerializer)?.headerFields
        self.codings = codings.map { HTTPFields([$0.acceptEncoding]) } ?? HTTPFields()
        var given = self.codings
        for name in [HTTPField.Name.userAgent, .acceptLanguage] {
            if let value = serializers?[name] { given[name] = value }
        }
        self.given = given
        merge()
    }

    private mutating func merge() {
        merged = own
        guard let serializers else { return }
        merged.addMissing(serializers)
        merged.addMissing(codings)
    }
}
