public import FoundationEssentials
public import HTTPTypes
public import LinnetMultipart
public import LinnetSerialization
public import LinnetSession

// AFHTTPSessionManager's verbs: each starts a task, and calls `success` or `failure` exactly once, after all of
// `progress`, on the session's callback executor. They are calls (``HTTPCall``) with callbacks; new programs should use
// calls directly.
extension HTTPSession {
    /// GET:parameters:headers:progress:success:failure:
    @discardableResult
    public func get(
        _ path: String, parameters: RequestParameters? = nil, headers: HTTPFields = [:],
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (SessionResponse<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        start(call(.get, path, parameters), headers: headers, progress: progress, success: success, failure: failure)
    }

    /// HEAD:parameters:headers:success:failure:
    ///
    /// The session's response serializer determines the accepted statuses.
    @discardableResult
    public func head(
        _ path: String, parameters: RequestParameters? = nil, headers: HTTPFields = [:],
        success: @escaping @Sendable (SessionResponse<Data>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<Data> {
        let statuses = configuration.responseSerializer.validation.statusCodes
        let serializer = DataResponseSerializer(validation: ResponseValidation(statusCodes: statuses))
        return call(.head, path, parameters).headers(headers).task(serializer).started(nil, success, failure)
    }

    /// POST:parameters:headers:progress:success:failure:
    @discardableResult
    public func post(
        _ path: String, parameters: RequestParameters? = nil, headers: HTTPFields = [:],
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (SessionResponse<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        start(call(.post, path, parameters), headers: headers, progress: progress, success: success, failure: failure)
    }

    /// POST:parameters:headers:constructingBodyWithBlock:progress:success:failure:
    ///
    /// The parameters come first, each as a part. An error of the block underlies `SessionError.Code.encodingFailed`.
    @discardableResult
    public func post(
        _ path: String, parameters: RequestParameters? = nil, headers: HTTPFields = [:],
        constructingBodyWith construct: (inout MultipartForm) throws -> Void,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (SessionResponse<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> UploadTask<JSONValue?> {
        var call = call(.post, path)
        do {
            var form = MultipartForm()
            if let parameters { try form.append(parameters) }
            try construct(&form)
            call = call.body(form: form)
        } catch {
            call = call.failing(
                with: error as? SessionError
                    ?? SessionError(
                        .encodingFailed, "The form could not be built: \(SessionError.cause(error))", underlying: error)
            )
        }
        return start(call, headers: headers, progress: progress, success: success, failure: failure)
    }

    /// PUT:parameters:headers:success:failure:
    @discardableResult
    public func put(
        _ path: String, parameters: RequestParameters? = nil, headers: HTTPFields = [:],
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (SessionResponse<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        start(call(.put, path, parameters), headers: headers, progress: progress, success: success, failure: failure)
    }

    /// PATCH:parameters:headers:success:failure:
    @discardableResult
    public func patch(
        _ path: String, parameters: RequestParameters? = nil, headers: HTTPFields = [:],
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (SessionResponse<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        start(call(.patch, path, parameters), headers: headers, progress: progress, success: success, failure: failure)
    }

    /// DELETE:parameters:headers:success:failure:
    @discardableResult
    public func delete(
        _ path: String, parameters: RequestParameters? = nil, headers: HTTPFields = [:],
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (SessionResponse<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        start(call(.delete, path, parameters), headers: headers, progress: progress, success: success, failure: failure)
    }

    private func start(
        _ call: HTTPCall, headers: HTTPFields, progress: (@Sendable (TaskProgress) -> Void)?,
        success: @escaping @Sendable (SessionResponse<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)?
    ) -> TransferTask<JSONValue?> {
        call.headers(headers).jsonTask().started(progress, success, failure)
    }
}

extension TransferTask {
    /// Starts the task with the callbacks of a verb.
    fileprivate func started(
        _ progress: (@Sendable (TaskProgress) -> Void)?,
        _ success: @escaping @Sendable (SessionResponse<Value>) -> Void,
        _ failure: (@Sendable (SessionError) -> Void)?
    ) -> Self {
        if let progress { onProgress(progress) }
        onCompletion { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure?(error)
            }
        }
        resume()
        return self
    }
}
