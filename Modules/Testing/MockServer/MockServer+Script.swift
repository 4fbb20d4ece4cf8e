internal import HTTPTypes
internal import Synchronization

extension MockServer {
    /// Responses in the order in which the requests get them, whatever these are.
    ///
    /// ```swift
    /// let script = MockServer.Script([.status(.serviceUnavailable), .text("hello")])
    /// try await withMockServer(script) { server in … }
    /// ```
    public final class Script: Sendable {
        private struct State {
            var responses: [MockResponse]
            var unanswered: [RecordedRequest] = []
        }

        private let state: Mutex<State>

        /// Creates a script.
        public init(_ responses: [MockResponse]) {
            state = Mutex(State(responses: responses))
        }

        /// Adds a response to the end.
        public func append(_ response: MockResponse) {
            state.withLock { $0.responses.append(response) }
        }

        /// The number of responses that no request has got yet.
        public var remaining: Int { state.withLock { $0.responses.count } }

        /// The requests for which no response was left. They were answered with status 500.
        public var unanswered: [RecordedRequest] { state.withLock { $0.unanswered } }

        /// Answers a request, also without a response that is left.
        package func respond(to request: RecordedRequest) -> MockResponse {
            state.withLock { state in
                if !state.responses.isEmpty { return state.responses.removeFirst() }
                state.unanswered.append(request)
                let text = "The script has no response left for \(request.method.rawValue) \(request.target).\n"
                return .text(text, status: .internalServerError)
            }
        }

        /// Throws when the requests were not as many as the responses.
        func finish() throws(TestingError) {
            if let mismatch { throw TestingError(.scriptMismatch, mismatch) }
        }

        /// How the requests differ in number from the responses, as a sentence; nil if they do not.
        package var mismatch: String? {
            let (left, unanswered) = state.withLock { ($0.responses.count, $0.unanswered) }
            if let first = unanswered.first {
                return "Requests for which the script had no response left: \(unanswered.count), the first of them "
                    + "\(first.method.rawValue) \(first.target)."
            }
            return left > 0 ? "Responses of the script that were not requested: \(left)." : nil
        }
    }
}

/// Starts a server that answers with a script, runs a closure with it, and shuts it down.
///
/// - Throws: ``TestingError`` with ``TestingError/Code/scriptMismatch`` when the requests were more or fewer than the
///   responses, unless the closure throws.
public func withMockServer<Result>(
    _ script: MockServer.Script,
    tls identity: TestPKI.Identity? = nil,
    configuration: MockServer.Configuration = MockServer.Configuration(),
    perform: (MockServer) async throws -> Result
) async throws -> Result {
    let handler: MockServer.Handler = { script.respond(to: $0) }
    let result = try await withMockServer(
        tls: identity, configuration: configuration, handler: handler, perform: perform)
    try script.finish()
    return result
}
