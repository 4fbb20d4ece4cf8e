public import HTTPTypes
public import LinnetMultipart
public import LinnetSerialization

// A form is a value, or filled by a function. Its parameters come first then, each as a part; what the function throws is the
// underlying error of `SessionError.Code.encodingFailed`.
extension HTTPSession {
    /// Sends a multipart form with any method, and returns its response as the serializer reads it.
    ///
    /// The form is encoded as it is sent: memory does not grow with its files.
    public func response<S: ResponseSerializer>(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), multipart form: MultipartForm, serializer: S,
        hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        let request = try request(method, path, headers: headers, options: options, multipart: form)
        return try await session.response(for: request, serializer: serializer, hooks: hooks)
    }

    /// Makes a handle on the upload of a multipart form. Nothing is sent until ``TransferTask/resume()``.
    public func task<S: ResponseSerializer>(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), multipart form: MultipartForm, serializer: S
    ) -> UploadTask<S.Value> {
        makeTask(serializer) { () throws(SessionError) in
            try request(method, path, headers: headers, options: options, multipart: form)
        }
    }

    /// Makes a handle on the upload of a multipart form that a function fills, after the parameters. Nothing is sent until
    /// ``TransferTask/resume()``; what the function throws is the underlying error of the handle's.
    public func task<S: ResponseSerializer>(
        _ method: HTTPRequest.Method, _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), multipart build: (inout MultipartForm) throws -> Void, serializer: S
    ) -> UploadTask<S.Value> {
        makeTask(serializer) { () throws(SessionError) in
            let form = try MultipartForm(parameters, filledBy: build)
            return try request(method, path, headers: headers, options: options, multipart: form)
        }
    }
}

extension HTTPSession {
    /// Sends POST with a multipart form, and returns the response read as JSON.
    ///
    /// The form is encoded as it is sent: memory does not grow with its files.
    public func post(
        _ path: String, headers: HTTPFields = [:], options: RequestOptions = RequestOptions(), multipart: MultipartForm,
        hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .post, path, headers: headers, options: options, multipart: multipart,
            serializer: configuration.responseSerializer, hooks: hooks)
    }

    /// Sends POST with a multipart form, and returns the response as the serializer reads it.
    public func post<S: ResponseSerializer>(
        _ path: String, headers: HTTPFields = [:], options: RequestOptions = RequestOptions(),
        multipart: MultipartForm, serializer: S, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .post, path, headers: headers, options: options, multipart: multipart, serializer: serializer,
            hooks: hooks)
    }

    /// Sends POST with a multipart form that a function builds, and returns the response read as JSON.
    ///
    /// The parameters come first, each as a part. What the function throws is the underlying error of
    /// ``SessionError/Code/encodingFailed``.
    public func post(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        multipart build: (inout MultipartForm) throws -> Void
    ) async throws(SessionError) -> Response<JSONValue?> {
        let form = try MultipartForm(parameters, filledBy: build)
        return try await post(path, headers: headers, options: options, multipart: form, hooks: hooks)
    }

    /// Sends POST with a multipart form that a function builds, and calls back with the response read as JSON, or
    /// with the error, the function's own included.
    @discardableResult
    public func post(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        multipart build: (inout MultipartForm) throws -> Void,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> UploadTask<JSONValue?> {
        task(
            .post, path, parameters: parameters, headers: headers, options: options, multipart: build,
            serializer: configuration.responseSerializer
        ).start(hooks, progress, success, failure)
    }
}

extension HTTPSession {
    /// Sends PUT with a multipart form, and returns the response read as JSON.
    ///
    /// The form is encoded as it is sent: memory does not grow with its files.
    public func put(
        _ path: String, headers: HTTPFields = [:], options: RequestOptions = RequestOptions(), multipart: MultipartForm,
        hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .put, path, headers: headers, options: options, multipart: multipart,
            serializer: configuration.responseSerializer, hooks: hooks)
    }

    /// Sends PUT with a multipart form, and returns the response as the serializer reads it.
    public func put<S: ResponseSerializer>(
        _ path: String, headers: HTTPFields = [:], options: RequestOptions = RequestOptions(),
        multipart: MultipartForm, serializer: S, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .put, path, headers: headers, options: options, multipart: multipart, serializer: serializer,
            hooks: hooks)
    }

    /// Sends PUT with a multipart form that a function builds, and returns the response read as JSON.
    ///
    /// The parameters come first, each as a part. What the function throws is the underlying error of
    /// ``SessionError/Code/encodingFailed``.
    public func put(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        multipart build: (inout MultipartForm) throws -> Void
    ) async throws(SessionError) -> Response<JSONValue?> {
        let form = try MultipartForm(parameters, filledBy: build)
        return try await put(path, headers: headers, options: options, multipart: form, hooks: hooks)
    }

    /// Sends PUT with a multipart form that a function builds, and calls back with the response read as JSON, or
    /// with the error, the function's own included.
    @discardableResult
    public func put(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        multipart build: (inout MultipartForm) throws -> Void,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> UploadTask<JSONValue?> {
        task(
            .put, path, parameters: parameters, headers: headers, options: options, multipart: build,
            serializer: configuration.responseSerializer
        ).start(hooks, progress, success, failure)
    }
}
