public import FoundationEssentials
public import HTTPTypes
internal import LinnetMultipart
public import LinnetSerialization

extension HTTPSession {
    /// Sends a file as the body of a request, and returns the response read as JSON; nil where the body is empty.
    ///
    /// ```swift
    /// try await client.upload("backups/today", fromFile: URL(filePath: "/srv/backup.tar"))
    /// ```
    /// The file is read while it is sent: memory does not grow with it. Its size is sent as the Content-Length; a
    /// Content-Type that `headers` do not name is guessed from the file's extension. The default of `method` is PUT.
    ///
    /// Fails with ``SessionError/Code/fileFailed`` when the file cannot be read, before anything is sent, or when it
    /// changed its size since; ``SessionError/fileFailure`` says more.
    @discardableResult
    public func upload(
        _ path: String, method: HTTPRequest.Method = .put, fromFile file: URL, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<JSONValue?> {
        try await upload(
            path, method: method, fromFile: file, headers: headers, options: options,
            serializer: configuration.responseSerializer, hooks: hooks)
    }

    /// Sends a file as the body of a request, and returns the response read as JSON into a type.
    ///
    /// Fails with ``SessionError/Code/fileFailed`` when the file cannot be read, or changed while it was sent.
    public func upload<T: Decodable & Sendable>(
        _ path: String, as type: T.Type, method: HTTPRequest.Method = .put, fromFile file: URL,
        headers: HTTPFields = [:], options: RequestOptions = RequestOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<T> {
        try await upload(
            path, method: method, fromFile: file, headers: headers, options: options,
            serializer: configuration.serializer(for: type), hooks: hooks)
    }

    /// Sends a file as the body of a request, and returns the response as the serializer reads it.
    ///
    /// Fails with ``SessionError/Code/fileFailed`` when the file cannot be read, or changed while it was sent.
    @discardableResult
    public func upload<S: ResponseSerializer>(
        _ path: String, method: HTTPRequest.Method = .put, fromFile file: URL, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), serializer: S, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<S.Value> {
        let request = try request(method, path, headers: headers, options: options, fromFile: file)
        return try await session.response(for: request, serializer: serializer, hooks: hooks)
    }

    /// Makes a handle on the upload of a file. Nothing is sent until ``TransferTask/resume()``.
    ///
    /// A file that cannot be read gives a handle that fails once it is resumed.
    public func task<S: ResponseSerializer>(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), fromFile file: URL, serializer: S
    ) -> UploadTask<S.Value> {
        makeTask(serializer) { () throws(SessionError) in
            try request(method, path, headers: headers, options: options, fromFile: file)
        }
    }

    /// Makes the request that uploads a file.
    ///
    /// Throws ``SessionError/Code/fileFailed`` when the file cannot be read, and ``SessionError/Code/invalidURL``.
    public func request(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), fromFile file: URL
    ) throws(SessionError) -> Request {
        let url = try url(for: path)
        do {
            let type = MediaTypeTable.mediaType(forPathExtension: file.pathExtension)
            return try serialize(
                Request(
                    url: url, method: method, headerFields: [.contentType: type], body: .file(file), options: options),
                nil, headers)
        } catch {
            throw SessionError(error, url: url)
        }
    }
}
