internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCompression
internal import LinnetSerialization
internal import LinnetTransport

/// Requests the session's content codings, and decodes responses (RFC 9110, sections 8.4 and 12.5.3).
///
/// The reader of a body decodes it while it arrives. If the caller wants a whole body that the transport streams, this
/// link reads it, so that the links above see its failure as the failure of the request.
struct CodingLink: ChainLink {
    private struct Rules: Sendable {
        /// The field for requests without one.
        let acceptEncoding: HTTPField
        let codings: [ContentCoding]
        let limits: DecodingLimits
    }

    private let rules: Boxed<Rules>
    /// Whether the transport streams coded bodies. This link reads them if the caller wants them whole.
    let readsBodies: Bool

    /// Returns nil for a session without codings.
    init?(_ configuration: HTTPSession.Configuration, readsBodies: Bool) {
        guard let value = ContentCoding.acceptEncoding(configuration.contentCodings) else { return nil }
        rules = Boxed(
            Rules(
                acceptEncoding: HTTPField(name: .acceptEncoding, value: value), codings: configuration.contentCodings,
                limits: configuration.decodingLimits))
        self.readsBodies = readsBodies
    }

    /// The field for requests without one.
    var acceptEncoding: HTTPField { rules.value.acceptEncoding }

    func send(_ flight: inout Flight) -> ChainStep {
        let prepared = prepared(flight.request)
        return prepared.map { .change(to: $0) } ?? .proceed
    }

    /// The request to send instead; nil to send it unchanged. A range refers to uncoded bytes, because a part of coded
    /// bytes cannot be decoded.
    func prepared(_ request: SessionRequest) -> SessionRequest? {
        request.headerFields.contains(.range) ? withoutCodings(request) : nil
    }

    /// Returns the request with a demand for an uncoded response, unless it has its own Accept-Encoding field.
    func withoutCodings(_ request: SessionRequest) -> SessionRequest {
        guard request.headerFields[.acceptEncoding] == acceptEncoding.value else { return request }
        var request = request
        request.headerFields[.acceptEncoding] = Self.identity
        return request
    }

    /// Decodes a response's body while it is read, and removes the fields about its codings.
    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        decode(&response, to: flight.request)
        // Error pages remain streams, as they come from the transport.
        guard readsBodies, response.body.isOfConnection, case .whole = flight.delivery, response.head.status.code < 300
        else { return .proceed }
        return .read
    }

    private func decode(_ response: inout StreamedResponse, to request: SessionRequest) {
        guard let names = response.head.headerFields[.contentEncoding],
            response.hasWholeContent(answering: request.method),
            !asksForItself(request)
        else { return }
        let codings: Result<[ContentCoding], CompressionError>
        do throws(CompressionError) {
            let named = try ContentCoding.codings(in: names, among: rules.value.codings)
            guard !named.isEmpty else { return }
            response.contentCodings = named
            // Both fields describe the coded bytes. The entity tag does, too, but stays, since If-Match needs it.
            response.head.headerFields[.contentEncoding] = nil
            response.head.headerFields[.contentLength] = nil
            codings = .success(named)
        } catch {
            codings = .failure(error)
        }
        response.body = HTTPResponseBody(
            DecodedBody(base: response.body, codings: codings, limits: rules.value.limits, url: response.url))
    }

    private static let identity = "identity"

    /// Whether the caller has named codings, and therefore decodes them.
    private func asksForItself(_ request: SessionRequest) -> Bool {
        guard let value = request.headerFields[.acceptEncoding] else { return false }
        return value != acceptEncoding.value && value.lowercased() != Self.identity
    }
}

extension SessionResponse {
    /// Whether there is a body that is not a part of one (RFC 9110, sections 6.4.1 and 15.3.7).
    fileprivate func hasWholeContent(answering method: HTTPRequest.Method) -> Bool {
        method != .head && status.code >= 200 && ![204, 206, 304].contains(status.code)
    }
}
