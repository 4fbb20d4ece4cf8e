public import FoundationEssentials
internal import HTTPTypes
public import LinnetMessages
internal import LinnetSerialization

extension RequestTarget {
    init(_ url: URL, expecting known: KnownOrigin? = nil) throws(SessionError) {
        do {
            try self.init(parsing: url, expecting: known)
        } catch {
            throw .invalidURL(error.message, url)
        }
    }

    /// The head of a request to this target. User information becomes Basic credentials, unless the request has an
    /// Authorization field.
    func head(of request: SessionRequest) -> HTTPRequest {
        var head = HTTPRequest(
            method: request.method, scheme: origin.scheme, authority: origin.authority, path: path,
            headerFields: request.headerFields)
        if let userInfo, !head.headerFields.contains(.authorization) {
            head.headerFields[.authorization] = HTTPFields.basicAuthorization(
                username: userInfo.user, password: userInfo.password)
        }
        return head
    }
}

extension Origin {
    /// The origin of a URL.
    ///
    /// Fails with ``SessionError/Code/invalidURL`` when the URL is not http or https with a host.
    public init(_ url: URL) throws(SessionError) {
        self = try RequestTarget(url).origin
    }
}
