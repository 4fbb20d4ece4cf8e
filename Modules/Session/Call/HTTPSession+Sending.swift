internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

// What the calls' `async` functions do with a request that is ready to be sent.
extension HTTPSession {
    /// Sends a request, and returns its response as the serializer reads it.
    ///
    /// It runs in the caller's task and creates no other; cancelling the task cancels the transfer.
    @inline(never)
    func response<S: ResponseSerializer>(
        for request: SessionRequest, serializer: S, extras: Boxed<HTTPCall.Extras>?
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        let hooks = hub.hooks(of: request, extras?.value.hooks, .data)
        guard hub.isReporting || hooks != nil else {
            return try await answer(request, serializer, in: CallContext(own: extras?.value.chain))
        }
        return try await hub.reporting(request, kind: .data, hooks: hooks, serializer: serializer) {
            () async throws(SessionError) in
            try await answer(request, serializer, in: CallContext(hooks: hooks, own: extras?.value.chain))
        }
    }

    /// The same for calls without extras, which avoids their place in the frame of the function.
    func response<S: ResponseSerializer>(
        for request: SessionRequest, serializer: S
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        guard hub.isReporting else { return try await answer(request, serializer, in: CallContext()) }
        return try await response(for: request, serializer: serializer, extras: nil)
    }

    /// Sends a request, and returns once the response's head was received; the body is read as it arrives.
    func bytes(
        for request: SessionRequest, extras: Boxed<HTTPCall.Extras>?, upgrade: ProtocolUpgrade? = nil
    ) async throws(SessionError) -> StreamedResponse {
        let hooks = hub.hooks(of: request, extras?.value.hooks, .stream)
        let report =
            hub.isReporting || hooks != nil
            ? StreamReport(ReportedRequest(request, .stream, hooks, hub: hub)) : nil
        do {
            let call = CallContext(hooks: hooks, own: extras?.value.chain, upgrade: upgrade)
            return try await engine.run(request, delivery: .streamed, in: call)
                .reporting(to: report)
        } catch {
            report?.complete(error, error.metrics)
            throw error
        }
    }

    /// Sends a request, and writes the body of its response to a file.
    func download(
        _ request: SessionRequest, _ plan: DownloadPlan, _ extras: Boxed<HTTPCall.Extras>?
    ) async throws(SessionError) -> SessionResponse<URL> {
        let hooks = hub.hooks(of: request, extras?.value.hooks, .download)
        guard hub.isReporting || hooks != nil else {
            return try await engine.download(request, plan, in: CallContext(own: extras?.value.chain))
        }
        return try await hub.reporting(request, kind: .download, hooks: hooks) { () async throws(SessionError) in
            try await engine.download(request, plan, in: CallContext(hooks: hooks, own: extras?.value.chain))
        }
    }

    private func answer<S: ResponseSerializer>(
        _ request: SessionRequest, _ serializer: S, in call: CallContext
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        if engine.retriers(with: call.own).isEmpty { return try await answerOnce(request, serializer, in: call) }
        return try await engine.decoding(request, in: call) { course async throws(SessionError) in
            try await answerOnce(request, serializer, in: call, course)
        }
    }

    // Not inlined, so that the frame of a request that waits has nothing of what happens around it.
    @inline(never)
    private func answerOnce<S: ResponseSerializer>(
        _ request: SessionRequest, _ serializer: S, in call: CallContext, _ course: Course? = nil
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        let (response, body) = try await engine.runWhole(request, in: call, course: course)
        return try response.read(body, answering: request.method, by: serializer)
    }
}
