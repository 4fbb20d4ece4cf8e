public import FoundationEssentials
public import HTTPTypes
public import LinnetMultipart
public import LinnetSerialization

// Parameters become the query of GET, HEAD and DELETE, and the body of the others. The session's request serializer
// writes them.
extension HTTPSession {
    /// A call with the method GET.
    public func get(_ path: String, _ parameters: RequestParameters? = nil) -> HTTPCall { call(.get, path, parameters) }

    /// A call with the method HEAD, whose response has no body.
    public func head(_ path: String, _ parameters: RequestParameters? = nil) -> HTTPCall {
        call(.head, path, parameters)
    }

    /// A call with the method DELETE.
    public func delete(_ path: String, _ parameters: RequestParameters? = nil) -> HTTPCall {
        call(.delete, path, parameters)
    }

    /// A call with the method POST.
    public func post(_ path: String, _ parameters: RequestParameters? = nil) -> HTTPCall {
        call(.post, path, parameters)
    }

    /// A call with the method POST, and a value as its JSON body; see ``HTTPCall/body(json:)``.
    public func post(_ path: String, json value: some Encodable & Sendable) -> HTTPCall {
        call(.post, path).body(json: value)
    }

    /// A call with the method POST, and a multipart form as its body; see ``HTTPCall/body(form:)``.
    public func post(_ path: String, form: MultipartForm) -> HTTPCall { call(.post, path).body(form: form) }

    /// A call with the method PUT.
    public func put(_ path: String, _ parameters: RequestParameters? = nil) -> HTTPCall { call(.put, path, parameters) }

    /// A call with the method PUT, and a value as its JSON body; see ``HTTPCall/body(json:)``.
    public func put(_ path: String, json value: some Encodable & Sendable) -> HTTPCall {
        call(.put, path).body(json: value)
    }

    /// A call with the method PUT, and a file as its body; see ``HTTPCall/body(file:)``.
    public func put(_ path: String, file: URL) -> HTTPCall { call(.put, path).body(file: file) }

    /// A call with the method PATCH.
    public func patch(_ path: String, _ parameters: RequestParameters? = nil) -> HTTPCall {
        call(.patch, path, parameters)
    }

    /// A call with the method PATCH, and a value as its JSON body; see ``HTTPCall/body(json:)``.
    public func patch(_ path: String, json value: some Encodable & Sendable) -> HTTPCall {
        call(.patch, path).body(json: value)
    }

    /// A call with any method.
    ///
    /// `path` is resolved against the base URL (RFC 3986, section 5), like AFHTTPSessionManager's paths: `a/b` goes
    /// below the base's path, `/a/b` replaces that path, `//host/a` replaces the host too, and a whole URL ignores the
    /// base. Characters that a URL may not hold are percent-encoded.
    public func call(_ method: HTTPRequest.Method, _ path: String, _ parameters: RequestParameters? = nil) -> HTTPCall {
        HTTPCall(self, .path(method, path), parameters.map { .parameters($0) } ?? .none)
    }

    /// A call that sends a given request with the session's header fields. The base URL is not used, and the serializer
    /// only writes content of the call.
    public func call(_ request: SessionRequest) -> HTTPCall {
        HTTPCall(self, .request(request))
    }

    /// Resolves the path of a verb against the base URL, like ``call(_:_:_:)``.
    ///
    /// - Throws: ``SessionError`` with ``SessionError/Code/invalidURL`` when the outcome is not an http or https URL
    ///   with a host.
    public func url(for path: String) throws(SessionError) -> URL {
        try resolver.url(for: path)
    }
}
