public import HTTPTypes
public import LinnetMultipart
public import LinnetSerialization

extension HTTPSession {
    /// Sends POST with a multipart form, and returns the response read as JSON.
    ///
    /// The form is encoded as it is sent: memory does not grow with its files.
    public func post(
        _ path: String, headers: HTTPFields = [:], options: RequestOptions = RequestOptions(), multipart: MultipartForm
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .post, path, headers: headers, options: options, multipart: multipart,
            serializer: configuration.responseSerializer)
    }

    /// Sends POST with a multipart form, and returns the response as the serializer reads it.
    public func post<S: ResponseSerializer>(
        _ path: String, headers: HTTPFields = [:], options: RequestOptions = RequestOptions(),
        multipart: MultipartForm, serializer: S
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .post, path, headers: headers, options: options, multipart: multipart, serializer: serializer)
    }

    /// Sends POST with a multipart form that a function builds, and returns the response read as JSON.
    ///
    /// The parameters come first, each as a part. What the function throws is the underlying error of
    /// ``SessionError/Code/encodingFailed``.
    public func post(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), multipart build: (inout MultipartForm) throws -> Void
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await post(
            path, headers: headers, options: options, multipart: MultipartForm(parameters, filledBy: build))
    }

    /// Sends POST with a multipart form that a function builds, and calls back with the response read as JSON, or
    /// with the error, the function's own included.
    @discardableResult
    public func post(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), multipart build: (inout MultipartForm) throws -> Void,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> UploadTask<JSONValue?> {
        makeTask(configuration.responseSerializer) { () throws(SessionError) in
            let form = try MultipartForm(parameters, filledBy: build)
            return try request(.post, path, headers: headers, options: options, multipart: form)
        }.start(progress, success, failure)
    }
}

extension HTTPSession {
    /// Sends PUT with a multipart form, and returns the response read as JSON.
    ///
    /// The form is encoded as it is sent: memory does not grow with its files.
    public func put(
        _ path: String, headers: HTTPFields = [:], options: RequestOptions = RequestOptions(), multipart: MultipartForm
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .put, path, headers: headers, options: options, multipart: multipart,
            serializer: configuration.responseSerializer)
    }

    /// Sends PUT with a multipart form, and returns the response as the serializer reads it.
    public func put<S: ResponseSerializer>(
        _ path: String, headers: HTTPFields = [:], options: RequestOptions = RequestOptions(),
        multipart: MultipartForm, serializer: S
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .put, path, headers: headers, options: options, multipart: multipart, serializer: serializer)
    }

    /// Sends PUT with a multipart form that a function builds, and returns the response read as JSON.
    ///
    /// The parameters come first, each as a part. What the function throws is the underlying error of
    /// ``SessionError/Code/encodingFailed``.
    public func put(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), multipart build: (inout MultipartForm) throws -> Void
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await put(
            path, headers: headers, options: options, multipart: MultipartForm(parameters, filledBy: build))
    }

    /// Sends PUT with a multipart form that a function builds, and calls back with the response read as JSON, or
    /// with the error, the function's own included.
    @discardableResult
    public func put(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), multipart build: (inout MultipartForm) throws -> Void,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> UploadTask<JSONValue?> {
        makeTask(configuration.responseSerializer) { () throws(SessionError) in
            let form = try MultipartForm(parameters, filledBy: build)
            return try request(.put, path, headers: headers, options: options, multipart: form)
        }.start(progress, success, failure)
    }
}
