public import FoundationEssentials
public import HTTPTypes
public import LinnetMultipart
public import LinnetSerialization

extension HTTPSession {
    /// Resolves what a verb takes as its path against the base URL (RFC 3986, section 5), as AFHTTPSessionManager does.
    ///
    /// `a/b` goes below the base's path, `/a/b` drops that path, `//host/a` drops the host too, and a whole URL ignores
    /// the base. Characters that a URL may not hold are percent-encoded.
    ///
    /// Throws ``SessionError/Code/invalidURL`` when the outcome is not an http or https URL with a host.
    public func url(for path: String) throws(SessionError) -> URL {
        try resolver.url(for: path)
    }

    /// Makes the request that a verb sends: serialized, then with `headers` in the place of fields of the same names.
    ///
    /// The default of `requestSerializer` is the session's; credentials that it adds, such as Authorization and Cookie,
    /// stay at the base URL's origin, and are left out where `path` is a URL of another one. Throws
    /// ``SessionError/Code/invalidURL``, or what the serializer finds wrong with the parameters.
    public func request(
        _ method: HTTPRequest.Method, _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), requestSerializer: (any RequestSerializer)? = nil
    ) throws(SessionError) -> Request {
        let url = try url(for: path)
        do {
            return try serialize(
                Request(url: url, method: method, options: options), parameters, headers, requestSerializer)
        } catch {
            throw SessionError(error, url: url)
        }
    }

    /// Makes the request that a multipart verb sends.
    ///
    /// Throws ``SessionError/Code/encodingFailed`` when the form cannot be read.
    public func request(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), multipart form: MultipartForm
    ) throws(SessionError) -> Request {
        let url = try url(for: path)
        do {
            try form.validate()
            return try serialize(
                Request(
                    url: url, method: method, headerFields: [.contentType: form.contentType], body: form.makeBody(),
                    options: options),
                nil, headers)
        } catch {
            throw SessionError(building: error, url: url)
        }
    }

    /// Has a request completed by a serializer, and puts the call's own fields in.
    ///
    /// The session's serializer is made for the base URL's origin: what it says of who the client is goes nowhere else. A
    /// serializer or a field that was given for this request is meant for wherever it goes.
    func serialize(
        _ request: Request, _ parameters: Parameters?, _ headers: HTTPFields,
        _ requestSerializer: (any RequestSerializer)? = nil
    ) throws(SerializationError) -> Request {
        let serializer = requestSerializer ?? configuration.requestSerializer
        var request = try serializer.serialize(request, parameters: parameters)
        if requestSerializer == nil, resolver.leadsElsewhere(request.url) { request.headerFields.removeCredentials() }
        request.headerFields.override(with: headers)
        return request
    }
}

extension SessionError {
    /// Why a request's body could not be built.
    init(building error: any Error, url: URL?) {
        switch error {
        case let error as SessionError: self = error
        case let error as SerializationError: self.init(error, url: url)
        case let error as MultipartError:
            self.init(.encodingFailed, error.message, underlying: error, url: url)
        default:
            self.init(.encodingFailed, "The form could not be built: \(error)", underlying: error, url: url)
        }
    }
}
