internal import LinnetTesting
internal import Synchronization

/// The answers of a test's server, and what is to be reported about them.
protocol MockAnswers: Sendable {
    /// Answers a request.
    func respond(to request: RecordedRequest) async -> MockResponse
    /// The requests that had no answer, as a sentence; nil if there were none.
    var unanswered: String? { get }
    /// The answers that no request had, as a sentence; nil if there are none.
    var unrequested: String? { get }
}

/// The answers of a closure, which has one for each request.
struct HandlerAnswers: MockAnswers {
    private let handler: MockServer.Handler

    init(_ handler: @escaping MockServer.Handler) { self.handler = handler }

    func respond(to request: RecordedRequest) async -> MockResponse { await handler(request) }
    var unanswered: String? { nil }
    var unrequested: String? { nil }
}

/// The answers of routes.
final class RouteAnswers: MockAnswers {
    private let routes: MockServer.Routes
    private let strays = Mutex<[RecordedRequest]>([])

    init(_ routes: MockServer.Routes) { self.routes = routes }

    func respond(to request: RecordedRequest) async -> MockResponse {
        if routes.handler(for: request) == nil { strays.withLock { $0.append(request) } }
        return await routes.respond(to: request)
    }

    var unanswered: String? {
        let strays = strays.withLock { $0 }
        guard let first = strays.first else { return nil }
        return "Requests without a route: \(strays.count), the first of them \(first.method) \(first.target)."
    }

    var unrequested: String? { nil }
}

/// The answers of a script.
struct ScriptAnswers: MockAnswers {
    private let script: MockServer.Script

    init(_ responses: [MockResponse]) { script = MockServer.Script(responses) }

    func respond(to request: RecordedRequest) async -> MockResponse { script.respond(to: request) }
    var unanswered: String? { script.unanswered.isEmpty ? nil : script.mismatch }
    var unrequested: String? { script.remaining == 0 ? nil : script.mismatch }
}
