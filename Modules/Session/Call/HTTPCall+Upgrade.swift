internal import FoundationEssentials
package import HTTPTypes
internal import LinnetSerialization
package import LinnetTransport

extension HTTPCall {
    /// Sends the request over HTTP/1.1 and asks the server to switch protocols (RFC 9110, section 7.8), through the
    /// whole chain of the session except the cache. `ws` and `wss` in its URL mean `http` and `https`.
    ///
    /// - Returns: The response with the status 101, and the owner of the connection.
    /// - Throws: ``SessionError/Code/unacceptableStatus`` with the body if the server answers otherwise,
    ///   ``SessionError/Code/invalidRequest`` unless it is a GET without a body, or the errors of any request.
    package func upgraded(
        with upgrade: ProtocolUpgrade, adding fields: HTTPFields
    ) async throws(SessionError) -> (response: SessionResponse<Void>, owner: any AnyObject & Sendable) {
        var request = try HTTPCall(copying: self, target: target.withHTTPScheme).request()
        guard request.method == .get, request.body == nil else {
            throw SessionError(
                .invalidRequest, "A request that switches protocols must be a GET without a body.", url: request.url)
        }
        request.headerFields.override(with: fields)
        let response = try await session.bytes(for: request, extras: extras, upgrade: upgrade)
        guard let connection = response.body.upgraded else {
            throw await response.refused(
                SerializationError(
                    code: .unacceptableStatus,
                    message: "The server answered with \(response.head.status) instead of switching protocols.",
                    response: SerializedResponse(url: response.url, head: response.head, body: Data())))
        }
        (response.body.layer as? ReportedBody)?.ended()
        return (response.with(()), connection.owner)
    }

    private init(copying call: HTTPCall, target: Target) {
        self.init(call.session, target, call.content)
        headerFields = call.headerFields
        options = call.options
        extras = call.extras
    }
}

extension HTTPCall.Target {
    /// The target with `http` or `https` in the place of `ws` or `wss` (RFC 6455, section 3).
    fileprivate var withHTTPScheme: HTTPCall.Target {
        switch self {
        case .path(let method, let path):
            return .path(method, Self.withHTTPScheme(path))
        case .request(var request):
            if let url = URL(string: Self.withHTTPScheme(request.url.absoluteString)) { request.url = url }
            return .request(request)
        }
    }

    private static func withHTTPScheme(_ text: String) -> String {
        for (scheme, replacement) in [("ws:", "http:"), ("wss:", "https:")]
        where text.prefix(scheme.count).lowercased() == scheme {
            return replacement + text.dropFirst(scheme.count)
        }
        return text
    }
}
