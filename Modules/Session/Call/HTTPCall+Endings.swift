public import FoundationEssentials
internal import HTTPTypes
public import LinnetSerialization
internal import LinnetTransport

// These functions run in the caller's task: no other is made, and cancelling it cancels the transfer, with
// ``SessionError/Code/cancelled``. A status that the serializer's validation refuses, by default one that is not 200 to
// 299, fails with ``SessionError/Code/unacceptableStatus``, and the error has the response's head and body. Streams
// take a validation of their own, with the same default.
extension HTTPCall {
    /// Sends the request, and returns the response read by a serializer: `call.response(.string)`.
    @discardableResult
    public func response<S: ResponseSerializer>(_ serializer: S) async throws(SessionError) -> SessionResponse<S.Value>
    {
        guard let extras else { return try await session.response(for: request(), serializer: serializer) }
        return try await session.response(for: request(), serializer: serializer, extras: extras)
    }

    /// Sends the request, and returns the response with the unchanged body; it is empty for HEAD.
    @discardableResult
    public func response() async throws(SessionError) -> SessionResponse<Data> {
        try await response(DataResponseSerializer())
    }

    /// Sends the request, and returns the response with its JSON body decoded as a type.
    ///
    /// The request accepts `application/json`, unless the call, the session or its request serializer sets Accept.
    public func response<T: Decodable & Sendable>(as type: T.Type) async throws(SessionError) -> SessionResponse<T> {
        try await acceptingJSON().response(session.initialConfiguration.serializer(for: type))
    }

    /// Sends the request, and returns its JSON body decoded as a type, like ``response(as:)``.
    public func value<T: Decodable & Sendable>(as type: T.Type = T.self) async throws(SessionError) -> T {
        try await response(as: type).value
    }

    /// Sends the request, and returns its body as JSON; nil for an empty body.
    public func json() async throws(SessionError) -> JSONValue? {
        try await acceptingJSON().response(session.initialConfiguration.responseSerializer).value
    }

    /// Sends the request, and returns the body's bytes.
    public func data() async throws(SessionError) -> Data { try await response().value }

    /// Sends the request, and returns the body as a text, in the response's charset, or else UTF-8.
    public func text() async throws(SessionError) -> String { try await response(StringResponseSerializer()).value }

    /// Returns the call with an Accept field for JSON, if nothing else sets one.
    func acceptingJSON() -> HTTPCall {
        changed { $0.acceptsJSON = true }
    }
}

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
