public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

extension TransferTask {
    /// Hangs the hooks and the callbacks of a verb on the task, and starts it.
    func start(
        _ hooks: TaskHooks?, _ progress: (@Sendable (TaskProgress) -> Void)?,
        _ success: @escaping @Sendable (Response<Value>) -> Void, _ failure: (@Sendable (SessionError) -> Void)?
    ) -> Self {
        if let hooks { self.hooks = hooks }
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

// Each calls `success` or `failure` exactly once, after all of `progress`, on the session's callback executor.
extension HTTPSession {
    /// Sends HEAD, and calls back with the response, whose body is empty.
    @discardableResult
    public func head(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        success: @escaping @Sendable (Response<Data>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<Data> {
        task(
            .head, path, parameters: parameters, headers: headers, options: options,
            serializer: DataResponseSerializer()
        ).start(hooks, nil, success, failure)
    }
}

extension HTTPSession {
    /// Sends GET, and calls back with the response read as JSON, or with the error.
    @discardableResult
    public func get(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        task(.get, path, parameters: parameters, headers: headers, options: options)
            .start(hooks, progress, success, failure)
    }

    /// Sends GET, and calls back with the response as the serializer reads it, or with the error.
    @discardableResult
    public func get<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<S.Value>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<S.Value> {
        task(.get, path, parameters: parameters, headers: headers, options: options, serializer: serializer)
            .start(hooks, progress, success, failure)
    }
}

extension HTTPSession {
    /// Sends POST, and calls back with the response read as JSON, or with the error.
    @discardableResult
    public func post(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        task(.post, path, parameters: parameters, headers: headers, options: options)
            .start(hooks, progress, success, failure)
    }

    /// Sends POST, and calls back with the response as the serializer reads it, or with the error.
    @discardableResult
    public func post<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<S.Value>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<S.Value> {
        task(.post, path, parameters: parameters, headers: headers, options: options, serializer: serializer)
            .start(hooks, progress, success, failure)
    }
}

extension HTTPSession {
    /// Sends PUT, and calls back with the response read as JSON, or with the error.
    @discardableResult
    public func put(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        task(.put, path, parameters: parameters, headers: headers, options: options)
            .start(hooks, progress, success, failure)
    }

    /// Sends PUT, and calls back with the response as the serializer reads it, or with the error.
    @discardableResult
    public func put<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<S.Value>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<S.Value> {
        task(.put, path, parameters: parameters, headers: headers, options: options, serializer: serializer)
            .start(hooks, progress, success, failure)
    }
}

extension HTTPSession {
    /// Sends PATCH, and calls back with the response read as JSON, or with the error.
    @discardableResult
    public func patch(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        task(.patch, path, parameters: parameters, headers: headers, options: options)
            .start(hooks, progress, success, failure)
    }

    /// Sends PATCH, and calls back with the response as the serializer reads it, or with the error.
    @discardableResult
    public func patch<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<S.Value>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<S.Value> {
        task(.patch, path, parameters: parameters, headers: headers, options: options, serializer: serializer)
            .start(hooks, progress, success, failure)
    }
}

extension HTTPSession {
    /// Sends DELETE, and calls back with the response read as JSON, or with the error.
    @discardableResult
    public func delete(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<JSONValue?>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        task(.delete, path, parameters: parameters, headers: headers, options: options)
            .start(hooks, progress, success, failure)
    }

    /// Sends DELETE, and calls back with the response as the serializer reads it, or with the error.
    @discardableResult
    public func delete<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil,
        progress: (@Sendable (TaskProgress) -> Void)? = nil,
        success: @escaping @Sendable (Response<S.Value>) -> Void,
        failure: (@Sendable (SessionError) -> Void)? = nil
    ) -> DataTask<S.Value> {
        task(.delete, path, parameters: parameters, headers: headers, options: options, serializer: serializer)
            .start(hooks, progress, success, failure)
    }
}
