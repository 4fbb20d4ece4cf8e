import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Synchronization

/// Serves files by path, whole or in ranges, and counts what it sends.
final class FileServer: Sendable {
    struct State: Sendable {
        var files: [String: Data] = [:]
        var fields: HTTPFields = [.acceptRanges: "bytes"]
        var entityTag: String? = "\"v1\""
        var sendsRanges = true
        /// The numbers of the requests that are answered with 503.
        var refused: Set<Int> = []
        /// The fault after a number of bytes of a body, for the first responses.
        var fault: (effect: MockServer.Fault.Effect, after: Int, count: Int)?
        /// Answers the first requests with these.
        var answers: [MockResponse] = []
        var throttle: MockResponse.Throttle?
        /// Answers some requests for ranges, after others.
        var rest: (skip: Int, count: Int, make: @Sendable (_ first: Int, _ last: Int) -> MockResponse)?
        /// Settings of single paths.
        var fieldsOfPaths: [String: HTTPFields] = [:]
        var tagsOfPaths: [String: String] = [:]
        var throttleOfPaths: [String: MockResponse.Throttle] = [:]
        var requests: [RecordedRequest] = []
    }

    let state: Mutex<State>

    init(_ files: [String: Data]) { state = Mutex(State(files: files)) }

    var requests: [RecordedRequest] { state.withLock { $0.requests } }

    func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }

    func respond(to request: RecordedRequest) -> MockResponse {
        state.withLock { state in
            state.requests.append(request)
            if state.refused.contains(state.requests.count) { return .status(.serviceUnavailable) }
            if !state.answers.isEmpty { return state.answers.removeFirst() }
            if request.method != .get { return .status(.created) }
            guard let data = state.files[request.path] else { return .status(.notFound) }
            if let response = rest(data, request, &state) { return response }
            var response = entity(data, request, state)
            response.throttle = state.throttleOfPaths[request.path] ?? state.throttle
            if let (effect, after, count) = state.fault, count > 0 {
                state.fault = (effect, after, count - 1)
                response = response.with(MockServer.Fault(effect, at: .responseBody(after: after)))
            }
            return response
        }
    }

    private func rest(_ data: Data, _ request: RecordedRequest, _ state: inout State) -> MockResponse? {
        guard let rest = state.rest, rest.count > 0, let range = request.headerFields[.range] else { return nil }
        let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard let first = Int(ends[0]), first > 0 || rest.skip > 0 else { return nil }
        state.rest = (max(0, rest.skip - 1), rest.skip > 0 ? rest.count : rest.count - 1, rest.make)
        return rest.skip > 0 ? nil : rest.make(first, min(Int(ends[1]) ?? .max, data.count - 1))
    }

    private func entity(_ data: Data, _ request: RecordedRequest, _ state: State) -> MockResponse {
        var fields = state.fields
        let entityTag = state.tagsOfPaths[request.path] ?? state.entityTag
        fields[.eTag] = entityTag
        fields.append(contentsOf: state.fieldsOfPaths[request.path] ?? [:])
        guard let range = request.headerFields[.range], state.sendsRanges,
            request.headerFields[.ifRange] ?? entityTag == entityTag
        else { return MockResponse(headerFields: fields, body: .bytes(data)) }
        let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard let first = Int(ends[0]), first < data.count else { return .status(.rangeNotSatisfiable) }
        let last = min(Int(ends[1]) ?? .max, data.count - 1)
        fields[.contentRange] = "bytes \(first)-\(last)/\(data.count)"
        return MockResponse(
            status: .partialContent, headerFields: fields, body: .bytes(data.dropFirst(first).prefix(last + 1 - first)))
    }
}

/// Starts a server of files.
func withFileServer<Result>(
    _ files: [String: Data], _ perform: (FileServer, MockServer) async throws -> Result
) async throws -> Result {
    let files = FileServer(files)
    return try await withMockServer(handler: { files.respond(to: $0) }) { try await perform(files, $0) }
}
