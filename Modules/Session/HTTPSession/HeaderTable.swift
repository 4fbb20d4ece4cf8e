internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization

/// The header fields that a session adds to its requests, and the one place where a request's fields are merged.
///
/// The first of these sources wins for fields of the same name:
/// 1. the call (``HTTPCall/header(_:_:)``),
/// 2. the call's content, which determines the media type of a body, a file or a form,
/// 3. the request that the caller made, for a call that sends one,
/// 4. the session (``HTTPSession/headerFields``), before a serializer of the call's own,
/// 5. the request serializer,
/// 6. the session's content codings (Accept-Encoding).
///
/// A value is never changed: a change of the session's fields makes a new table, so that a request takes one reference.
final class HeaderTable: Sendable {
    /// The fields of the configuration, changed by ``HTTPSession/setHeader(_:_:)``.
    let own: HTTPFields
    /// The fields of the session's serializer; nil if they are not known.
    private let serializer: HTTPFields?
    /// The field that lists the accepted content codings; none in a session without codings.
    let codings: HTTPFields
    /// The own fields, completed by the serializer's and the codings. Requests share this value, because merging for
    /// each request would copy the fields.
    private let merged: HTTPFields
    /// The fields for requests that the caller made: the codings, and the serializer's User-Agent and Accept-Language.
    private let forCallers: HTTPFields
    /// The serializer's additions to requests without content, besides fields; nil if only the serializer knows them.
    private let additions: SerializerAdditions?
    /// The media type of a session's serializer for JSON, if it has one.
    private let serializersJSON: String?
    private let credentialNames: Set<HTTPField.Name>

    convenience init(_ configuration: HTTPSession.Configuration, _ codings: CodingLink?) {
        self.init(
            own: configuration.headerFields,
            serializer: (configuration.requestSerializer as? any HTTPRequestSerializer)?.headerFields,
            additions: SerializerAdditions(configuration.requestSerializer),
            json: (configuration.requestSerializer as? JSONRequestSerializer)?.headerFields[.contentType],
            codings: codings.map { HTTPFields([$0.acceptEncoding]) } ?? HTTPFields(),
            credentialNames: configuration.redaction.credentialNames)
    }

    /// The table after a change of the session's own fields.
    func with(_ own: HTTPFields) -> HeaderTable {
        HeaderTable(
            own: own, serializer: serializer, additions: additions, json: serializersJSON, codings: codings,
            credentialNames: credentialNames)
    }

    private init(
        own: HTTPFields, serializer: HTTPFields?, additions: SerializerAdditions?, json: String?, codings: HTTPFields,
        credentialNames: Set<HTTPField.Name>
    ) {
        self.own = own
        self.serializer = serializer
        self.additions = additions
        self.codings = codings
        self.credentialNames = credentialNames
        serializersJSON = json
        var forCallers = codings
        for name in [HTTPField.Name.userAgent, .acceptLanguage] {
            if let value = serializer?[name] { forCallers[name] = value }
        }
        self.forCallers = forCallers
        var merged = own
        if let serializer {
            merged.addMissing(serializer)
            merged.addMissing(codings)
        }
        self.merged = merged
    }

    /// The names of all fields that the session adds to requests that lack them.
    var addedNames: Set<HTTPField.Name> { Set((merged + codings + forCallers).map(\.name)) }

    /// The media type for the JSON of a request without one, from the session's fields or a serializer for JSON; nil
    /// for `application/json`.
    func jsonContentType(with callSerializer: (any RequestSerializer)?) -> String? {
        guard let callSerializer else { return own[.contentType] ?? serializersJSON }
        return (callSerializer as? JSONRequestSerializer)?.headerFields[.contentType]
    }

    /// Merges the fields of a request that has those of sources 2 and 3, and runs the serializer, which adds the fields
    /// that are missing.
    ///
    /// A session's credentials, its serializer's included, are meant for the origin of the base URL. A call's own
    /// serializer is meant for the call's URL.
    /// - Parameters:
    ///   - serializer: The serializer; nil for a request that is sent as the caller made it.
    ///   - isOfCall: Whether the serializer is the call's own.
    func complete(
        _ request: inout SessionRequest, of call: HTTPCall, by serializer: (any RequestSerializer)?, isOfCall: Bool,
        _ parameters: RequestParameters?
    ) throws {
        let isOfSession = serializer != nil && !isOfCall
        if isOfSession { request.headerFields.addMissing(merged) }
        // Most requests need nothing else of the serializer.
        if isOfSession, let additions, parameters == nil, request.body == nil, additions.apply(to: request.method) {
            request.options = request.options.filled(from: additions.options)
        } else if let serializer {
            request = try serializer.serialize(request, parameters: parameters)
        }
        // The serializer can have changed the URL.
        if isOfSession {
            if call.session.resolver.leadsElsewhere(request.url) {
                request.headerFields.remove(credentialNames)
                if let given = call.givenFields { request.headerFields.addMissing(given) }
            }
        } else if !own.isEmpty {
            var own = own
            if call.session.resolver.leadsElsewhere(request.url) { own.remove(credentialNames) }
            request.headerFields.addMissing(own)
        }
        request.headerFields.addMissing(serializer == nil ? forCallers : codings)
        request.headerFields.override(with: call.headerFields)
    }
}

/// The additions of one of the library's serializers to a request without content, besides header fields.
private struct SerializerAdditions {
    let options: RequestOptions
    private let methods: [HTTPRequest.Method]

    init?(_ serializer: any RequestSerializer) {
        let settings: RequestSerializerSettings
        switch serializer {
        case let serializer as FormRequestSerializer: settings = serializer.settings
        case let serializer as JSONRequestSerializer: settings = serializer.settings
        case let serializer as PropertyListRequestSerializer: settings = serializer.settings
        // A serializer of the user's can do something else.
        default: return nil
        }
        options = settings.requestOptions
        methods = Array(settings.methodsEncodingParametersInURL)
    }

    /// Whether this is all for requests with a method. A serializer can give the others an empty body.
    func apply(to method: HTTPRequest.Method) -> Bool { methods.contains(method) }
}
