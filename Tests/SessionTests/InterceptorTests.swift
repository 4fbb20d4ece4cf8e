import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct InterceptorTests {
    @Test(arguments: Surface.allCases)
    func theFirstInterceptorIsTheOutermost(surface: Surface) async throws {
        let calls = EventRecorder<String>()
        let transport = StubTransport { _ in
            calls.record("transport")
            return .json("1")
        }
        let client = try makeClient(transport) {
            $0.interceptors = [
                RecordingInterceptor(name: "a", calls: calls), RecordingInterceptor(name: "b", calls: calls),
            ]
        }
        _ = try await surface.send("x", with: client).get()
        #expect(calls.events == ["a down", "b down", "transport", "b up", "a up"])
    }

    @Test(arguments: Surface.allCases)
    func anInterceptorMayAnswerItself(surface: Surface) async throws {
        let transport = StubTransport()
        let client = try makeClient(transport) {
            $0.interceptors = [
                ClosureInterceptor { request, _ in
                    let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
                    return StreamedResponse(url: request.url, head: head, body: .whole(Data("42".utf8)))
                }
            ]
        }
        let response = try await surface.send("x", with: client).get()
        #expect(response.value == 42)
        #expect(response.metrics.isEmpty)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: Surface.allCases)
    func anInterceptorMayStreamItsOwnBody(surface: Surface) async throws {
        let client = try makeClient {
            $0.interceptors = [
                ClosureInterceptor { request, _ in
                    let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
                    for text in ["[1", ",2", "]"] { continuation.yield(Data(text.utf8)) }
                    continuation.finish()
                    let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
                    return StreamedResponse(url: request.url, head: head, body: .streamed(chunks))
                }
            ]
        }
        #expect(try await surface.send("x", with: client).get().value == [1, 2])
    }

    @Test(arguments: Surface.allCases)
    func anInterceptorMaySendTheRequestAgain(surface: Surface) async throws {
        let transport = StubTransport { $0.index == 0 ? .status(503) : .json("1") }
        let client = try makeClient(transport) {
            $0.interceptors = [
                ClosureInterceptor { request, next in
                    let first = try await next(request)
                    return first.head.status.code == 503 ? try await next(request) : first
                }
            ]
        }
        #expect(try await surface.send("x", with: client).get().value == 1)
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: Surface.allCases)
    func anInterceptorsErrorFailsTheRequest(surface: Surface) async throws {
        struct Oops: Error {}
        let client = try makeClient {
            $0.interceptors = [ClosureInterceptor { _, _ in throw Oops() }]
        }
        let error = await surface.send("x", with: client).error
        #expect(error?.code == .interceptorFailed)
        #expect(error?.underlying is Oops)
    }

    @Test(arguments: Surface.allCases)
    func aSessionErrorPassesUnchanged(surface: Surface) async throws {
        let client = try makeClient(StubTransport { _ in throw TransportError(.connectionFailed, "No route.") }) {
            $0.interceptors = [ClosureInterceptor { try await $1($0) }]
        }
        #expect(await surface.send("x", with: client).error?.code == .connectionFailed)
    }

    @Test(arguments: Surface.allCases)
    func aCancellationErrorIsACancellation(surface: Surface) async throws {
        let client = try makeClient {
            $0.interceptors = [ClosureInterceptor { _, _ in throw CancellationError() }]
        }
        #expect(await surface.send("x", with: client).error?.code == .cancelled)
    }

    @Test func theRequestArrivesWithEveryLayersFields() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport) {
            $0.headerFields = [.accept: "session/*", .userAgent: "session", .acceptLanguage: "session"]
            $0.requestSerializer = FormRequestSerializer(headerFields: [
                .accept: "serializer/*", .userAgent: "serializer",
            ])
        }
        _ = try await client.get("x").headers([.accept: "own/*"]).response(JSONResponseSerializer())
        let fields = try #require(transport.requests.first?.head.headerFields)
        #expect(fields[values: .accept] == ["own/*"])
        #expect(fields[values: .userAgent] == ["session"])
        #expect(fields[values: .acceptLanguage] == ["session"])
    }
}

private struct RecordingInterceptor: Interceptor {
    let name: String
    let calls: EventRecorder<String>

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        calls.record(name + " down")
        let response = try await next(request)
        calls.record(name + " up")
        return response
    }
}

struct ClosureInterceptor: Interceptor {
    let body: @Sendable (SessionRequest, InterceptorChain) async throws -> StreamedResponse

    init(_ body: @escaping @Sendable (SessionRequest, InterceptorChain) async throws -> StreamedResponse) {
        self.body = body
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        try await body(request, next)
    }
}
