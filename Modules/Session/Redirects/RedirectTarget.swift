internal import FoundationEssentials
internal import HTTPTypes

extension HTTPResponse.Status {
    /// Whether it says to ask elsewhere, and how (RFC 9110, sections 15.4.2 to 15.4.9).
    var isRedirect: Bool {
        switch code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}

extension StreamedResponse {
    /// Where the response leads; nil when it does not redirect, or does not say where to.
    ///
    /// A relative Location is resolved against the request's URL, and inherits its fragment (RFC 9110, section 10.2.2). User
    /// information never comes from a server: it is kept for the origin that it was given for.
    func redirectTarget() throws(SessionError) -> URL? {
        guard head.status.isRedirect else { return nil }
        let locations = Set(head.headerFields[values: .location])
        guard let location = locations.first else { return nil }
        guard locations.count == 1 else {
            throw .redirectRefused("The response redirects to more than one place.", self)
        }
        let base = URIReference(url.absoluteString)
        let reference = URIReference(location.trimmingOptionalWhitespace)
        var target = reference.resolved(against: base)
        if target.fragment == nil { target.fragment = base.fragment }
        if reference.authority != nil { target.userInfo = nil }
        guard location.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }),
            let url = URL(string: target.text)
        else {
            throw .redirectRefused("The response redirects to what is not a URL.", self)
        }
        return try keepingUserInfo(of: base, target, url)
    }

    private func keepingUserInfo(
        of base: URIReference, _ target: URIReference, _ url: URL
    ) throws(SessionError) -> URL {
        let origin: Origin
        do {
            origin = try Origin(url)
        } catch {
            throw .redirectRefused("The response redirects to another scheme than http and https, or to no host.", self)
        }
        guard let userInfo = base.userInfo, target.userInfo == nil, try Origin(self.url) == origin else { return url }
        var target = target
        target.userInfo = userInfo
        return URL(string: target.text) ?? url
    }
}

extension SessionError {
    static func redirectRefused(_ message: String, _ response: StreamedResponse) -> SessionError {
        SessionError(.redirectRefused, message, url: response.url).adding(response)
    }
}

extension String {
    /// Without the blanks that may stand around a field's value (RFC 9110, section 5.6.3).
    var trimmingOptionalWhitespace: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
