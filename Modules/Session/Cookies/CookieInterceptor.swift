internal import LinnetCookies
internal import LinnetSerialization

/// The link that sends the cookies of a jar and stores those of responses (RFC 6265bis, sections 5.7 and 5.8).
///
/// It is below redirects and authentication: each request on the network has the cookies of its own URL, and the cookies of each
/// response are stored, also those of a redirect or a challenge.
final class CookieInterceptor: PassiveInterceptor {
    let jar: CookieJar

    init(jar: CookieJar) {
        self.jar = jar
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        guard request.options.usesCookies ?? true else { return try await next(request) }
        let context = request.cookieContext
        var request = request
        jar.addCookies(to: &request.headerFields, for: request.url, context: context)
        let response = try await next(request)
        jar.store(setCookieFields: response.head.headerFields, of: request.url, context: context)
        return response
    }

    /// Without cookies there is nothing to send.
    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool {
        request.options.usesCookies == false || jar.isEmpty && !request.headerFields.contains(.cookie)
    }

    func passes(_ response: inout StreamedResponse, to request: SessionRequest, _ exchange: Exchange) -> Bool {
        if request.options.usesCookies ?? true {
            jar.store(setCookieFields: response.head.headerFields, of: request.url, context: request.cookieContext)
        }
        return true
    }
}

extension SessionRequest {
    /// What the request is made for, as its options say.
    var cookieContext: CookieContext {
        CookieContext(
            mainDocument: options.mainDocument, isTopLevelNavigation: options.isTopLevelNavigation ?? false,
            method: method)
    }
}
