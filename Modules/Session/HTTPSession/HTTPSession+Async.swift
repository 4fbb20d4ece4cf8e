public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

extension HTTPSession {
    /// Sends HEAD, and returns the response, whose body is empty.
    public func head(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<Data> {
        try await response(
            .head, path, parameters: parameters, headers: headers, options: options,
            serializer: DataResponseSerializer(), hooks: hooks)
    }
}

extension HTTPSession {
    /// Sends GET, and returns the response read as JSON; nil where the body is empty.
    public func get(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .get, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.responseSerializer, hooks: hooks)
    }

    /// Sends GET, and returns the response read as JSON into a type.
    public func get<T: Decodable & Sendable>(
        _ path: String, as type: T.Type, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<T> {
        try await response(
            .get, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.serializer(for: type), hooks: hooks)
    }

    /// Sends GET, and returns the response as the serializer reads it.
    public func get<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .get, path, parameters: parameters, headers: headers, options: options, serializer: serializer,
            hooks: hooks)
    }
}

extension HTTPSession {
    /// Sends POST, and returns the response read as JSON; nil where the body is empty.
    public func post(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .post, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.responseSerializer, hooks: hooks)
    }

    /// Sends POST, and returns the response read as JSON into a type.
    public func post<T: Decodable & Sendable>(
        _ path: String, as type: T.Type, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<T> {
        try await response(
            .post, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.serializer(for: type), hooks: hooks)
    }

    /// Sends POST, and returns the response as the serializer reads it.
    public func post<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .post, path, parameters: parameters, headers: headers, options: options, serializer: serializer,
            hooks: hooks)
    }
}

extension HTTPSession {
    /// Sends PUT, and returns the response read as JSON; nil where the body is empty.
    public func put(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .put, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.responseSerializer, hooks: hooks)
    }

    /// Sends PUT, and returns the response read as JSON into a type.
    public func put<T: Decodable & Sendable>(
        _ path: String, as type: T.Type, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<T> {
        try await response(
            .put, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.serializer(for: type), hooks: hooks)
    }

    /// Sends PUT, and returns the response as the serializer reads it.
    public func put<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .put, path, parameters: parameters, headers: headers, options: options, serializer: serializer,
            hooks: hooks)
    }
}

extension HTTPSession {
    /// Sends PATCH, and returns the response read as JSON; nil where the body is empty.
    public func patch(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .patch, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.responseSerializer, hooks: hooks)
    }

    /// Sends PATCH, and returns the response read as JSON into a type.
    public func patch<T: Decodable & Sendable>(
        _ path: String, as type: T.Type, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<T> {
        try await response(
            .patch, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.serializer(for: type), hooks: hooks)
    }

    /// Sends PATCH, and returns the response as the serializer reads it.
    public func patch<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .patch, path, parameters: parameters, headers: headers, options: options, serializer: serializer,
            hooks: hooks)
    }
}

extension HTTPSession {
    /// Sends DELETE, and returns the response read as JSON; nil where the body is empty.
    public func delete(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await response(
            .delete, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.responseSerializer, hooks: hooks)
    }

    /// Sends DELETE, and returns the response read as JSON into a type.
    public func delete<T: Decodable & Sendable>(
        _ path: String, as type: T.Type, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<T> {
        try await response(
            .delete, path, parameters: parameters, headers: headers, options: options,
            serializer: configuration.serializer(for: type), hooks: hooks)
    }

    /// Sends DELETE, and returns the response as the serializer reads it.
    public func delete<S: ResponseSerializer>(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        try await response(
            .delete, path, parameters: parameters, headers: headers, options: options, serializer: serializer,
            hooks: hooks)
    }
}
