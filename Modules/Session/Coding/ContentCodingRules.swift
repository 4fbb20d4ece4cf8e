internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCompression
internal import LinnetSerialization

/// What a session does about content codings (RFC 9110, sections 8.4 and 12.5.3): it asks for those that it has, and undoes those of
/// responses.
///
/// The place is above the cache, which stores responses as they were sent, and below everything that reads bodies. Nothing waits
/// here: a body is decoded by its reader. Therefore it is no interceptor, whose function would cost a request that has nothing to
/// do with codings its frame.
final class ContentCodingRules: Sendable {
    /// The field of requests that have none of their own.
    let acceptEncoding: HTTPField
    private let codings: [ContentCoding]
    private let limits: DecodingLimits

    /// Nil for a session without codings.
    init?(_ configuration: HTTPSession.Configuration) {
        guard let value = ContentCoding.acceptEncoding(configuration.contentCodings) else { return nil }
        acceptEncoding = HTTPField(name: .acceptEncoding, value: value)
        codings = configuration.contentCodings
        limits = configuration.decodingLimits
    }

    /// The request as it goes on. A range is one of the bytes as they are stored, since a part of coded bytes cannot be decoded.
    func prepared(_ request: SessionRequest) -> SessionRequest {
        request.headerFields.contains(.range) ? withoutCodings(request) : request
    }

    /// A request that asks for a response without codings, unless it has an Accept-Encoding field of its own.
    func withoutCodings(_ request: SessionRequest) -> SessionRequest {
        guard request.headerFields[.acceptEncoding] == acceptEncoding.value else { return request }
        var request = request
        request.headerFields[.acceptEncoding] = Self.identity
        return request
    }

    /// Has the codings of a response's body undone as it is read, and removes their fields.
    func decode(_ response: inout StreamedResponse, to request: SessionRequest) {
        guard let names = response.head.headerFields[.contentEncoding],
            response.hasWholeContent(answering: request.method),
            !asksForItself(request)
        else { return }
        let codings: Result<[ContentCoding], CompressionError>
        do throws(CompressionError) {
            let named = try ContentCoding.codings(in: names, among: self.codings)
            guard !named.isEmpty else { return }
            response.contentCodings = named
            response.head.headerFields[.contentEncoding] = nil
            response.head.headerFields[.contentLength] = nil
            codings = .success(named)
        } catch {
            codings = .failure(error)
        }
        response.body = .decoded(
            DecodedBody(base: response.body, codings: codings, limits: limits, url: response.url))
    }

    private static let identity = "identity"

    /// Whether the caller has named codings, and so decodes them.
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
