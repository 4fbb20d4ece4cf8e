internal import HTTPTypes
internal import LinnetCache
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetTransport

/// The link that changes http to https for known hosts, and stores the hosts of responses (RFC 6797, sections 8.1 and 8.3).
///
/// It is below redirects, so that each hop is changed, and above authentication and cookies, which see the URL that is requested.
struct HSTSInterceptor: Interceptor {
    let store: HSTSStore

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        var request = request
        request.url = store.upgrading(request.url)
        let response = try await next(request)
        // A response of the cache has the field of the response that confirmed it, or none.
        if response.attempts.last?.isTrustVerified == true {
            store.store(
                strictTransportSecurity: response.head.headerFields[values: .strictTransportSecurity], of: response.url)
        }
        return response
    }
}
