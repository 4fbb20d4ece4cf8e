import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport

/// Answers the requests of a ``TaskHistory`` by their path, with and without sockets.
enum HistoryServer {
    private static let fields: HTTPFields = [.eTag: "\"v\"", .contentType: "application/octet-stream"]

    static func respond(to request: RecordedRequest) -> MockResponse {
        let (answer, size) = read(request.path)
        let whole = MockResponse(headerFields: fields, body: .bytes(Data(count: size)))
        switch answer {
        case .completes: return whole
        case .redirects: return .redirect(to: "/completes/\(size)/\(request.path.split(separator: "/").last ?? "0")")
        case .refuses: return MockResponse(status: .notFound, headerFields: fields, body: .bytes(Data(count: size)))
        case .breaksOff: return half(size, .reset)
        case .stalls: return half(size, .stall)
        }
    }

    /// It always breaks off in its middle: at its end, the connection would be another request's by then.
    private static func half(_ size: Int, _ effect: MockServer.Fault.Effect) -> MockResponse {
        let body = Data(count: max(size, 1000))
        return MockResponse(headerFields: fields, body: .bytes(body))
            .with(MockServer.Fault(effect, at: .responseBody(after: body.count / 2)))
    }

    static func respond(to request: StubTransport.Request) async throws -> StubTransport.Response {
        let (answer, size) = read(request.head.path ?? "")
        switch answer {
        case .completes:
            return .status(200, headerFields: fields, body: Data(count: size))
        case .redirects:
            return .status(302, headerFields: [.location: "/completes/\(size)/0"])
        case .refuses:
            return .status(404, headerFields: fields, body: Data(count: size))
        case .breaksOff:
            let body = half(size)
            body.fail(TransportError(.connectionClosed, "Reset."))
            return .stream(body, headerFields: fields)
        case .stalls:
            return .stream(half(size), headerFields: fields)
        }
    }

    private static func half(_ size: Int) -> StubTransport.Body {
        let body = StubTransport.Body()
        if size > 1 { body.send(Data(count: size / 2)) }
        return body
    }

    private static func read(_ path: String) -> (TaskHistory.Answer, Int) {
        let parts = path.split(separator: "/")
        guard parts.count == 3, let answer = TaskHistory.Answer(rawValue: String(parts[0])), let size = Int(parts[1])
        else { return (.refuses, 0) }
        return (answer, size)
    }
}
