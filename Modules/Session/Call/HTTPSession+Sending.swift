internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

// The work of the calls' `async` functions on a request that is ready to be sent.
extension HTTPSession {
    /// Sends a request, and returns its response read by the serializer.
    ///
    /// It runs in the caller's task and creates no other; cancelling the task cancels the transfer.
    @inline(never)
    func response<S: ResponseSerializer>(
        for request: SessionRequest, serializer: S, extras: Boxed<HTTPCall.Extras>?
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        let hooks = hub.hooks(of: request, extras?.value.hooks, .data)
        guard hub.isReporting || hooks != nil else {
            var flight = Flight(request, additions: extras?.value.additions)
            return try await answer(&flight, serializer)
        }
        return try await hub.reporting(request, kind: .data, hooks: hooks, serializer: serializer) {
            reporter async throws(SessionError) in
            var flight = Flight(request, hooks: hooks, additions: extras?.value.additions)
            flight.reporter = reporter
            return try await engine.answer(&flight, serializer)
        }
    }

    /// The same for calls without extras, which avoids their place in the frame of the function.
    func response<S: ResponseSerializer>(
        for request: SessionRequest, serializer: S
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        guard !hub.isReporting else { return try await response(for: request, serializer: serializer, extras: nil) }
        var flight = Flight(request)
        return try await answer(&flight, serializer)
    }

    /// Sends a request whose events have no subscriber yet. One may come while it runs.
    private func answer<S: ResponseSerializer>(
        _ flight: inout Flight, _ serializer: S
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        let reporter = TaskReporter(.data, flight.request, hub: hub)
        flight.reporter = reporter
        do throws(SessionError) {
            let response = try await engine.answer(&flight, serializer)
            reporter.ended(nil)
            return response
        } catch {
            reporter.ended(error)
            throw error
        }
    }

    /// Sends a request, and returns after the response's head was received; the body is read while it arrives.
    func bytes(
        for request: SessionRequest, extras: Boxed<HTTPCall.Extras>?, upgrade: ProtocolUpgrade? = nil
    ) async throws(SessionError) -> StreamedResponse {
        let hooks = hub.hooks(of: request, extras?.value.hooks, .stream)
        // Also without a subscriber: one may come before the end of the body.
        let report = StreamReport(ReportedRequest(request, .stream, hooks, hub: hub))
        do {
            var flight = Flight(request, hooks: hooks, additions: extras?.value.additions)
            flight.upgrade = upgrade
            flight.reporter = report.reporter
            return try await engine.run(flight).reporting(to: report)
        } catch {
            report.complete(error, error.metrics)
            throw error
        }
    }

    /// Sends a request, and writes the body of its response to a file.
    func download(
        _ request: SessionRequest, _ plan: DownloadPlan, _ extras: Boxed<HTTPCall.Extras>?
    ) async throws(SessionError) -> SessionResponse<URL> {
        let hooks = hub.hooks(of: request, extras?.value.hooks, .download)
        guard hub.isReporting || hooks != nil else {
            var flight = Flight(request, additions: extras?.value.additions)
            let reporter = TaskReporter(.download, request, hub: hub)
            flight.reporter = reporter
            do throws(SessionError) {
                let response = try await engine.download(flight, plan)
                reporter.ended(nil)
                return response
            } catch {
                reporter.ended(error)
                throw error
            }
        }
        return try await hub.reporting(request, kind: .download, hooks: hooks) { reporter async throws(SessionError) in
            var flight = Flight(request, hooks: hooks, additions: extras?.value.additions)
            flight.reporter = reporter
            return try await engine.download(flight, plan)
        }
    }
}
