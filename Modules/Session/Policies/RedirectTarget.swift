internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization

extension StreamedResponse {
    /// Returns the target of the redirect; nil if the response does not redirect, or has no Location.
    ///
    /// A relative Location is resolved against the request's URL, and inherits its fragment (RFC 9110, section 10.2.2).
    /// User information in the Location is ignored; the request's is kept for its own origin.
    func redirectTarget() throws(SessionError) -> URL? {
        guard head.status.isRedirect else { return nil }
        let locations = Set(head.headerFields[fields: .location].map(\.uriReference))
        guard let location = locations.first else { return nil }
        guard locations.count == 1 else {
            throw .redirectRefused("The response has several Location fields that differ.", self)
        }
        let base = URIReference(url.absoluteString)
        let reference = URIReference(location.trimmingOptionalWhitespace)
        var target = reference.resolved(against: base)
        target.encodeInvalidBytes()
        if target.fragment == nil { target.fragment = base.fragment }
        if reference.scheme != nil || reference.authority != nil { target.userInfo = nil }
        guard location.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }),
            !reference.hasAmbiguousUserInfo, let url = URL(string: target.text)
        else {
            throw .redirectRefused("The response redirects to an invalid URL.", self)
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
            throw .redirectRefused("The response redirects to a URL that is not http or https with a host.", self)
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
    /// The text without leading and trailing optional whitespace (RFC 9110, section 5.6.3).
    var trimmingOptionalWhitespace: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}

extension SessionRequest {
    /// Returns the request that follows a redirect (RFC 9110, section 15.4).
    ///
    /// - Parameter secrets: The fields that are not sent to another origin.
    func redirected(
        to url: URL, by status: HTTPResponse.Status, without secrets: Set<HTTPField.Name>
    ) throws(SessionError) -> SessionRequest {
        var request = self
        request.url = url
        if method.changesToGet(by: status) {
            request.method = .get
            request.body = nil
            request.headerFields.removeContentFields()
        }
        // The next hop may go through another proxy.
        request.headerFields[.proxyAuthorization] = nil
        if try Origin(url) != Origin(self.url) { request.headerFields.remove(secrets) }
        return request
    }
}

extension HTTPRequest.Method {
    fileprivate func changesToGet(by status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case 301, 302: self == .post
        case 303: self != .get && self != .head
        default: false
        }
    }
}

extension HTTPFields {
    /// The fields that describe a body, besides those whose names begin with `Content-`.
    private static let bodyNames: Set<String> = [
        "digest", "repr-digest", "last-modified", "transfer-encoding", "trailer", "expect",
    ]

    mutating func remove(_ names: Set<HTTPField.Name>) {
        guard contains(where: { names.contains($0.name) }) else { return }
        self = HTTPFields(filter { !names.contains($0.name) })
    }

    /// Removes the fields whose values are the same in other fields.
    mutating func remove(_ names: Set<HTTPField.Name>, sharedWith other: HTTPFields) {
        remove(names.filter { self[fields: $0] == other[fields: $0] })
    }

    fileprivate mutating func removeContentFields() {
        self = HTTPFields(
            filter { field in
                let name = field.name.canonicalName
                return !name.hasPrefix("content-") && !Self.bodyNames.contains(name)
            })
    }
}
