public import FoundationEssentials
public import LinnetSerialization
internal import LinnetTransport

// Nothing is sent before a task is resumed. When a task cannot be made, such as a download to a place that is not a file, its
// handle fails once it is resumed.
extension Session {
    /// Makes a handle on a request. Nothing is sent until ``TransferTask/resume()``.
    public func dataTask<S: ResponseSerializer>(for request: Request, serializer: S) -> DataTask<S.Value> {
        task(for: .success(request), kind: .data, serializer: serializer)
    }

    /// Makes a handle on an upload of bytes, a file or a stream. Nothing is sent until ``TransferTask/resume()``.
    public func uploadTask<S: ResponseSerializer>(
        for request: Request, from body: HTTPBody, serializer: S
    ) -> UploadTask<S.Value> {
        var request = request
        request.body = body
        return task(for: .success(request), kind: .upload, serializer: serializer)
    }

    /// Makes a handle on the upload of a file, which is read while it is sent. Nothing is sent until
    /// ``TransferTask/resume()``; a file that cannot be read fails the task then.
    public func uploadTask<S: ResponseSerializer>(
        for request: Request, fromFile file: URL, serializer: S
    ) -> UploadTask<S.Value> {
        let whole = Result<Request, SessionError> { () throws(SessionError) in
            var request = request
            do throws(SerializationError) {
                request.body = try .file(file)
            } catch {
                throw SessionError(error, url: request.url)
            }
            return request
        }
        return task(for: whole, kind: .upload, serializer: serializer)
    }

    /// Makes a handle on a response that is read as it arrives, from ``TransferTask/response``. Nothing is sent until
    /// ``TransferTask/resume()``.
    public func streamTask(for request: Request) -> StreamTask {
        streamTask(for: .success(request))
    }

    func streamTask(for request: Result<Request, SessionError>) -> StreamTask {
        let link = StreamLink()
        return handle(try? request.get(), kind: .stream, link: .stream(link)) { [engine] driver throws(SessionError) in
            try await engine.stream(request.get(), link, driver: driver)
        }
    }

    /// A handle on a request, or on the failure to make one.
    func task<S: ResponseSerializer>(
        for request: Result<Request, SessionError>, kind: TaskKind, serializer: S
    ) -> TransferTask<S.Value> {
        handle(try? request.get(), kind: kind) { [engine] driver throws(SessionError) in
            try await engine.run(request.get(), serializer, driver: driver)
        }
    }

    func handle<Value>(
        _ request: Request?, kind: TaskKind, link: TransferLink = .none,
        work: @escaping TaskDriver<Response<Value>>.Work
    ) -> TransferTask<Value> {
        let driver = TaskDriver(
            request: request, kind: kind, hub: hub, progressInterval: configuration.progressInterval,
            didEnd: { [registry] id, error in
                registry.remove(id)
                // A stream task may end without ever having run.
                if case .stream(let link) = link, let error { link.end(.failure(error)) }
            }, work: work)
        let task = TransferTask<Value>(driver: driver, executor: executor, link: link)
        registry.add(task)
        return task
    }
}
