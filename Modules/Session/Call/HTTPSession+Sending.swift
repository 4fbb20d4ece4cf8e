internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

// What the calls' `async` functions do with a request that is ready to be sent.
extension HTTPSession {
    /// Sends a request, and returns its response as the serializer reads it.
    ///
    /// It runs in the caller's task and creates no other; cancelling the task cancels the transfer.
    func response<S: ResponseSerializer>(
        for request: Request, serializer: S, hooks: TaskHooks?
    ) async throws(SessionError) -> Response<S.Value> {
        let hooks = hub.hooks(of: request, hooks, .data)
        guard hub.isReporting || hooks != nil else { return try await answer(request, serializer, nil) }
        return try await hub.reporting(request, .data, hooks, serializer) { () async throws(SessionError) in
            try await answer(request, serializer, hooks)
        }
    }

    /// The same for requests without hooks of their own, which avoids their place in the frame of the function.
    func response<S: ResponseSerializer>(
        for request: Request, serializer: S
    ) async throws(SessionError) -> Response<S.Value> {
        guard hub.isReporting else { return try await answer(request, serializer, nil) }
        return try await response(for: request, serializer: serializer, hooks: nil)
    }

    /// Sends a request, and returns once the response's head was received; the body is read as it arrives.
    func bytes(for request: Request, hooks: TaskHooks? = nil) async throws(SessionError) -> StreamedResponse {
        let hooks = hub.hooks(of: request, hooks, .stream)
        let report =
            hub.isReporting || hooks != nil
            ? StreamReport(ReportedRequest(request, .stream, hooks, hub: hub)) : nil
        do {
            return try await engine.run(request, delivery: .streamed, hooks: hooks).reporting(to: report)
        } catch {
            report?.complete(error, error.metrics)
            throw error
        }
    }

    /// Sends a request, and writes the body of its response to a file.
    func download(
        _ request: Request, _ plan: DownloadPlan, _ hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<URL> {
        let hooks = hub.hooks(of: request, hooks, .download)
        guard hub.isReporting || hooks != nil else { return try await engine.download(request, plan) }
        return try await hub.reporting(request, .download, hooks) { () async throws(SessionError) in
            try await engine.download(request, plan, hooks: hooks)
        }
    }

    private func answer<S: ResponseSerializer>(
        _ request: Request, _ serializer: S, _ hooks: RequestHooks?
    ) async throws(SessionError) -> Response<S.Value> {
        let (response, body) = try await engine.runWhole(request, hooks: hooks)
        return try response.read(body, answering: request.method, by: serializer)
    }
}
