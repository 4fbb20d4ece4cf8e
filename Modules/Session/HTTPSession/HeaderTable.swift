internal import HTTPTypes
internal import LinnetSerialization

/// The header fields that a session adds to its requests.
struct HeaderTable: Sendable {
    /// Those of the configuration, changed by ``HTTPSession/setHeader(_:_:)``.
    var own: HTTPFields {
        didSet { merge() }
    }
    /// The own fields, with those that the session's serializer and its codings add where they are missing. Requests share them,
    /// while each addition to the own fields would copy them.
    private(set) var merged = HTTPFields()
    /// The fields of the serializer; nil if they are not known.
    private let serializers: HTTPFields?
    /// The field that asks for content codings; none in a session without.
    let codings: HTTPFields
    /// What is added to requests that were made elsewhere: the field that asks for content codings, and the serializer's User-Agent and
    /// Accept-Language.
    let given: HTTPFields

    init(_ configuration: HTTPSession.Configuration, _ codings: ContentCodingRules?) {
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
