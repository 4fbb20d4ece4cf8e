public import LinnetSerialization

extension Session {
    /// Makes a handle on a request. Nothing is sent until ``DataTask/resume()``.
    public func dataTask<S: ResponseSerializer>(for request: Request, serializer: S) -> DataTask<S.Value> {
        task(.data, for: .success(request), serializer: serializer)
    }

    /// Makes a handle on a request that is about what it sends. Nothing is sent until ``DataTask/resume()``.
    public func uploadTask<S: ResponseSerializer>(
        for request: Request, from body: HTTPBody, serializer: S
    ) -> DataTask<S.Value> {
        var request = request
        request.body = body
        return task(.upload, for: .success(request), serializer: serializer)
    }

    /// The handles that have not ended, in the order in which they were made. Never waits.
    public var tasks: [any SessionTask] { registry.tasks }

    /// Cancels every handle that has not ended. Requests without a handle are cancelled by the task that awaits them.
    public func cancelAll() {
        for task in registry.tasks { task.cancel() }
    }

    /// A handle on a request, or on the failure to make one.
    func task<S: ResponseSerializer>(
        _ kind: TaskKind, for request: Result<Request, SessionError>, serializer: S
    ) -> DataTask<S.Value> {
        let driver = TaskDriver(
            request: try? request.get(), kind: kind, hub: hub, didEnd: { [registry] in registry.remove($0) }
        ) { [engine] driver throws(SessionError) in
            try await engine.run(request.get(), serializer, driver: driver)
        }
        let task = DataTask(kind: kind, driver: driver, executor: executor)
        registry.add(task)
        return task
    }
}
