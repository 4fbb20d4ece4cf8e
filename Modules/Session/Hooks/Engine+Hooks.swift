internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

extension Engine {
    /// Sends a request with hooks through the chain.
    @inline(never)
    func run(
        _ flight: inout Flight, _ hooks: RequestHooks, until deadline: Tick?
    ) async throws(SessionError) -> StreamedResponse {
        var watched = flight
        watched.observer = hooks.observing(flight.observer)
        if hooks.readsResponses { watched.delivery = .streamed }
        var response = try await proceed(&watched)
        do {
            let step = flight.instruments?.begin("hook: response")
            let disposition = try await hooks.didReceiveResponse(response.head)
            step?.end(flight.request)
            try await follow(disposition, of: response, flight, hooks)
        } catch {
            throw error.adding(response)
        }
        response.body = hooks.watching(response.body, until: deadline, flight.request.url)
        return response
    }

    /// Applies a hook's decision on a response; returns if the response should be read normally.
    private func follow(
        _ disposition: TaskHooks.ResponseDisposition?, of response: StreamedResponse, _ flight: Flight,
        _ hooks: RequestHooks
    ) async throws(SessionError) {
        switch disposition {
        case nil, .allow:
            return
        case .cancel:
            throw SessionError(.cancelled, "A hook cancelled the response.", url: flight.request.url)
        case .becomeStream(let reader):
            try await hooks.stream(response, to: reader)
            throw .takenByHook("stream", response)
        case .becomeDownload(let file, let options):
            var flight = flight
            flight.observer = hooks.observing(flight.observer, isDownload: true)
            let saved = try await save(response, DownloadPlan(to: file, options), flight)
            hooks.didFinishDownload(saved.value)
            throw .takenByHook("download", response)
        }
    }
}

extension SessionError {
    fileprivate static func takenByHook(_ kind: String, _ response: StreamedResponse) -> SessionError {
        var error = SessionError(
            .takenByHook, "A hook turned the response into a \(kind), so the request has no value.", url: response.url)
        error.metrics = response.metrics
        return error
    }

    static func bodyNotReplayable(of request: SessionRequest) -> SessionError {
        SessionError(
            .requestBodyFailed,
            "The request must be sent again, but its body cannot be replayed: "
                + (request.body?.replayObstacle ?? "its stream can be read only once") + ".", url: request.url)
    }
}

/// Passes each chunk of a response's body to a hook before the reader gets it.
final class WatchedBody: ResponseBodyLayer {
    let watched: HTTPResponseBody
    let hooks: RequestHooks
    /// The request's deadline; nil if the reader of the body enforces it.
    let deadline: Tick?
    let requestURL: URL

    init(base: HTTPResponseBody, hooks: RequestHooks, deadline: Tick?, url: URL) {
        watched = base
        self.hooks = hooks
        self.deadline = deadline
        requestURL = url
    }

    var base: HTTPResponseBody? { watched }
    var isOfConnection: Bool { false }

    func makeSource() -> any ResponseBodySource { WatchedSource(self) }
}

struct WatchedSource: ResponseBodySource {
    private var iterator: HTTPResponseBody.Iterator
    private let body: WatchedBody

    init(_ body: WatchedBody) {
        iterator = body.watched.makeAsyncIterator()
        self.body = body
    }

    mutating func next() async throws(SessionError) -> Data? {
        guard let chunk = try await iterator.next() else { return nil }
        // The body may have arrived in time and be read later.
        guard let deadline = body.deadline, deadline > .now else {
            try await body.hooks.didReceiveData(chunk)
            return chunk
        }
        try await ending(by: deadline, body.requestURL) { [body] () async throws(SessionError) in
            try await body.hooks.didReceiveData(chunk)
        }
        return chunk
    }
}
