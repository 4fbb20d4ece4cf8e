internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetTransport

/// The link that changes http to https for known hosts, and stores the hosts of responses (RFC 6797, sections 8.1 and 8.3).
///
/// It is below redirects, so that each hop is changed, and above authentication and cookies, which see the URL that is requested.
final class HSTSInterceptor: PassiveInterceptor {
    let store: HSTSStore

    init(store: HSTSStore) {
        self.store = store
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        var request = request
        request.url = store.upgrading(request.url)
        let response = try await next(request)
        store(response)
        return response
    }

    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool {
        request.url.scheme == "https" || store.upgrading(request.url) == request.url
    }

    func passes(_ response: inout StreamedResponse, to request: SessionRequest, _ exchange: Exchange) -> Bool {
        store(response)
        return true
    }

    private func store(_ response: StreamedResponse) {
        // A response of the cache has the field of the response that confirmed it, or none.
        if response.attempts.last?.isTrustVerified == true {
            store.store(
                strictTransportSecurity: response.head.headerFields[values: .strictTransportSecurity], of: response.url)
        }
    }
}
