public import FoundationEssentials
public import LinnetSerialization
internal import LinnetTransport

extension Session {
    /// Sends a request, and returns its response as the serializer reads it.
    ///
    /// It runs in the caller's task and creates no other; cancelling the task cancels the transfer, with
    /// ``SessionError/Code/cancelled``. The error has the response's head and body, if there was one.
    public func response<S: ResponseSerializer>(
        for request: Request, serializer: S
    ) async throws(SessionError) -> Response<S.Value> {
        guard hub.isReporting else { return try await answer(request, serializer, nil) }
        return try await response(for: request, serializer: serializer, hooks: nil)
    }

    /// Sends a request with its own hooks, and returns its response as the serializer reads it. Otherwise behaves as
    /// ``response(for:serializer:)``.
    public func response<S: ResponseSerializer>(
        for request: Request, serializer: S, hooks: TaskHooks?
    ) async throws(SessionError) -> Response<S.Value> {
        let hooks = hub.hooks(of: request, hooks, .data)
        guard hub.isReporting || hooks != nil else { return try await answer(request, serializer, nil) }
        return try await hub.reporting(request, .data, hooks, serializer) { () async throws(SessionError) in
            try await answer(request, serializer, hooks)
        }
    }

    /// Sends a request, and returns its response with the body as it is. A status that is not 200 to 299 fails with
    /// ``SessionError/Code/unacceptableStatus``.
    public func data(for request: Request, hooks: TaskHooks? = nil) async throws(SessionError) -> Response<Data> {
        try await response(for: request, serializer: DataResponseSerializer(), hooks: hooks)
    }

    /// Sends a request, and returns once the response's head was received; the body is read as it arrives.
    ///
    /// The status is not validated: an error page is returned as a response.
    public func bytes(
        for request: Request, hooks: TaskHooks? = nil
    ) async throws(SessionError) -> StreamedResponse {
        let hooks = hub.hooks(of: request, hooks, .stream)
        let report =
            hub.isReporting || hooks != nil
            ? StreamReport(ReportedRequest(request, .stream, hooks, hub: hub)) : nil
        do {
            return StreamedResponse(
                try await engine.run(request, delivery: .streamed, hooks: hooks), report: report)
        } catch {
            report?.complete(error, error.metrics)
            throw error
        }
    }

    private func answer<S: ResponseSerializer>(
        _ request: Request, _ serializer: S, _ hooks: RequestHooks?
    ) async throws(SessionError) -> Response<S.Value> {
        let (response, body) = try await engine.runWhole(request, hooks: hooks)
        return try Response(response, body: body, to: request.method, serializer: serializer)
    }
}
