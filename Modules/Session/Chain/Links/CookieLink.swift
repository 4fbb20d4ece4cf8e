internal import LinnetCookies
internal import LinnetSerialization

/// Sends the cookies of a jar, and stores cookies of responses (RFC 6265bis, sections 5.7 and 5.8), including redirects
/// and challenges.
struct CookieLink: ChainLink {
    let jar: CookieJar

    func send(_ flight: inout Flight) -> ChainStep {
        guard flight.usesCookies, !jar.isEmpty || flight.request.headerFields.contains(.cookie) else { return .proceed }
        var request = flight.request
        jar.addCookies(to: &request.headerFields, for: request.url, context: request.cookieContext)
        return .change(to: request)
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        if flight.usesCookies {
            jar.store(
                setCookieFields: response.head.headerFields, of: flight.request.url,
                context: flight.request.cookieContext)
        }
        return .proceed
    }
}

extension Flight {
    fileprivate var usesCookies: Bool { request.options.usesCookies ?? true }
}

extension SessionRequest {
    /// The purpose of the request according to its options.
    var cookieContext: CookieContext {
        CookieContext(
            mainDocument: options.mainDocument, isTopLevelNavigation: options.isTopLevelNavigation ?? false,
            method: method)
    }
}
