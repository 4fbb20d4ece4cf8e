public import HTTPTypes
public import LinnetSerialization

// The verbs, once for each surface; what has the verbs' names only fills in the method and the serializer.
extension HTTPSession {
    /// Sends a request with any method, and returns its response as the serializer reads it.
    ///
    /// It runs in the caller's task: cancelling that cancels the transfer, with ``SessionError/Code/cancelled``.
    /// The default of `requestSerializer` is the session's.
    public func response<S: ResponseSerializer>(
        _ method: HTTPRequest.Method, _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), requestSerializer: (any RequestSerializer)? = nil, serializer: S,
        hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        let request = try request(
            method, path, parameters: parameters, headers: headers, options: options,
            requestSerializer: requestSerializer)
        guard let hooks else { return try await session.response(for: request, serializer: serializer) }
        return try await session.response(for: request, serializer: serializer, hooks: hooks)
    }

    /// Makes a handle on a request with any method. Nothing is sent until ``TransferTask/resume()``.
    ///
    /// A request that cannot be made gives a handle that fails once it is resumed.
    public func task<S: ResponseSerializer>(
        _ method: HTTPRequest.Method, _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), requestSerializer: (any RequestSerializer)? = nil, serializer: S
    ) -> DataTask<S.Value> {
        makeTask(serializer) { () throws(SessionError) in
            try request(
                method, path, parameters: parameters, headers: headers, options: options,
                requestSerializer: requestSerializer)
        }
    }

    /// Makes a handle on a request with any method, whose response is read as JSON.
    public func task(
        _ method: HTTPRequest.Method, _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions()
    ) -> DataTask<JSONValue?> {
        task(
            method, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.responseSerializer)
    }

    /// Makes a handle on a request with any method, whose response is read as JSON into a type.
    public func task<T: Decodable & Sendable>(
        _ method: HTTPRequest.Method, _ path: String, as type: T.Type, parameters: Parameters? = nil,
        headers: HTTPFields = [:], options: RequestOptions = RequestOptions()
    ) -> DataTask<T> {
        task(
            method, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.serializer(for: type))
    }

    func makeTask<Kind: TransferKind, S: ResponseSerializer>(
        _ serializer: S, _ make: () throws(SessionError) -> Request
    ) -> TransferTask<Kind, S.Value> {
        session.task(for: Result { () throws(SessionError) in try make() }, serializer: serializer)
    }
}
