internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization

extension Request {
    /// Returns the request that follows a redirect (RFC 9110, section 15.4).
    func redirected(to url: URL, by status: HTTPResponse.Status) throws(SessionError) -> Request {
        var request = self
        request.url = url
        if method.changesToGet(by: status) {
            request.method = .get
            request.body = nil
            request.headerFields.removeContentFields()
        }
        request.headerFields[.proxyAuthorization] = nil
        if try Origin(url) != Origin(self.url) { request.headerFields.removeCredentials() }
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
    /// The fields that commonly contain a secret of one origin.
    private static let credentials: [HTTPField.Name] =
        [.authorization, .cookie, .proxyAuthorization] + HTTPField.Name.tokenNames
    /// The fields that describe a body, besides those whose names begin with `Content-`.
    private static let bodyNames: Set<String> = [
        "digest", "repr-digest", "last-modified", "transfer-encoding", "trailer", "expect",
    ]

    mutating func removeCredentials() {
        for name in Self.credentials { self[values: name] = [] }
    }

    /// Removes the credentials whose values are the same in other fields.
    mutating func removeCredentials(sharedWith other: HTTPFields) {
        for name in Self.credentials where self[values: name] == other[values: name] { self[values: name] = [] }
    }

    fileprivate mutating func removeContentFields() {
        self = HTTPFields(
            filter { field in
                let name = field.name.canonicalName
                return !name.hasPrefix("content-") && !Self.bodyNames.contains(name)
            })
    }
}
