import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

/// The three surfaces with which a request can be sent, so that one test covers all of them.
enum Surface: CaseIterable {
    case awaited
    case handle
    case callbacks

    /// Sends a request with the function of the verb.
    func send<S: ResponseSerializer>(
        _ verb: Verb, _ path: String, on session: HTTPSession, parameters: RequestParameters? = nil,
        headers: HTTPFields = [:], options: RequestOptions = RequestOptions(), serializer: S
    ) async throws -> SessionResponse<S.Value> {
        switch self {
        case .awaited:
            return try await call(verb, path, session, parameters, headers, options).response(serializer)
        case .handle:
            let task = call(verb, path, session, parameters, headers, options).task(serializer)
            task.resume()
            return try await task.value
        case .callbacks:
            let outcomes = EventRecorder<Result<SessionResponse<S.Value>, SessionError>>()
            let task = call(verb, path, session, parameters, headers, options).task(serializer)
            task.onCompletion { outcomes.record($0) }
            task.resume()
            try await outcomes.wait(count: 1)
            #expect(task.state == .completed)
            return try outcomes.events[0].get()
        }
    }

    private func call(
        _ verb: Verb, _ path: String, _ session: HTTPSession, _ parameters: RequestParameters?, _ headers: HTTPFields,
        _ options: RequestOptions
    ) -> HTTPCall {
        let call =
            switch verb {
            case .get: session.get(path, parameters)
            case .post: session.post(path, parameters)
            case .put: session.put(path, parameters)
            case .patch: session.patch(path, parameters)
            case .delete: session.delete(path, parameters)
            }
        return call.headers(headers).options(options)
    }

    /// Sends a request, and reads its response as JSON.
    func send(
        _ verb: Verb, _ path: String, on session: HTTPSession, parameters: RequestParameters? = nil,
        headers: HTTPFields = [:], options: RequestOptions = RequestOptions()
    ) async throws -> SessionResponse<JSONValue?> {
        try await send(
            verb, path, on: session, parameters: parameters, headers: headers, options: options,
            serializer: JSONResponseSerializer())
    }

    /// Sends GET, and returns the body as data.
    func data(
        _ path: String, on session: HTTPSession, options: RequestOptions = RequestOptions()
    ) async throws -> SessionResponse<Data> {
        try await send(.get, path, on: session, options: options, serializer: DataResponseSerializer())
    }

    /// Sends HEAD.
    func head(_ path: String, on session: HTTPSession, parameters: RequestParameters? = nil) async throws
        -> SessionResponse<Data>
    {
        switch self {
        case .awaited:
            return try await session.head(path, parameters).response()
        case .handle:
            let task = session.call(.head, path, parameters).task()
            task.resume()
            return try await task.value
        case .callbacks:
            let outcomes = EventRecorder<Result<SessionResponse<Data>, SessionError>>()
            let task = session.call(.head, path, parameters).task()
            task.onCompletion { outcomes.record($0) }
            task.resume()
            try await outcomes.wait(count: 1)
            return try outcomes.events[0].get()
        }
    }
}

/// A verb with its own functions, except for HEAD, which has no response body.
enum Verb: String, CaseIterable {
    case get
    case post
    case put
    case patch
    case delete

    var method: HTTPRequest.Method {
        switch self {
        case .get: .get
        case .post: .post
        case .put: .put
        case .patch: .patch
        case .delete: .delete
        }
    }

    /// Whether parameters are encoded in the query.
    var hasQuery: Bool { self == .get || self == .delete }
}
