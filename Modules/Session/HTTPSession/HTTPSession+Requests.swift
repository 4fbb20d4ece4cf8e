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
    /// The default of `requestSerializer` is the session's. Throws ``SessionError/Code/invalidURL``, or what the serializer
    /// finds wrong with the parameters.
    public func request(
        _ method: HTTPRequest.Method, _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), requestSerializer: (any RequestSerializer)? = nil
    ) throws(SessionError) -> Request {
        let url = try url(for: path)
        do {
            var request = try (requestSerializer ?? configuration.requestSerializer).serialize(
                Request(url: url, method: method, options: options), parameters: parameters)
            request.headerFields.override(with: headers)
            return request
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
            var request = try configuration.requestSerializer.serialize(
                Request(
                    url: url, method: method, headerFields: [.contentType: form.contentType], body: form.makeBody(),
                    options: options),
                parameters: nil)
            request.headerFields.override(with: headers)
            return request
        } catch {
            throw SessionError(building: error, url: url)
        }
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
