#if Tracing
import FoundationEssentials
import HTTPTypes
import InMemoryTracing
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing
import Tracing

@testable import LinnetTracing

@Suite("Tracing", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct TracingTests {
    private func trace(
        configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        routes: (inout MockServer.Routes) -> Void,
        perform: (HTTPSession, MockServer, InMemoryTracer) async throws -> Void
    ) async throws -> [FinishedInMemorySpan] {
        let tracer = InMemoryTracer()
        try await withMockServer(routes: MockServer.Routes(routes)) { server in
            let session = try HTTPSession(baseURL: server.url) {
                $0.instruments = [.tracing(tracer: tracer)]
                configure(&$0)
            }
            do {
                try await perform(session, server, tracer)
            } catch {
                await session.shutdown(.immediate)
                throw error
            }
            await session.shutdown()
        }
        return tracer.finishedSpans
    }

    @Test func aSendIsASpan() async throws {
        let spans = try await trace {
            $0.on("/users/7") { _ in .text("hello") }
        } perform: { session, server, tracer in
            _ = try await tracer.withSpan("caller") { _ in
                try await session.post("users/{id}", ["x": 1]).pathVariables(["id": 7]).text()
            }
            let fields = try #require(server.recordedRequests.first).headerFields
            #expect(fields[try #require(HTTPField.Name(InMemoryTracer.spanIDKey))] != nil)
        }
        #expect(spans.map(\.operationName) == ["POST /users/{id}", "caller"])
        let (send, caller) = (spans[0], spans[1])
        #expect(send.traceID == caller.traceID && send.parentSpanID == caller.spanID)
        #expect(send.kind == .client)
        #expect(send.status == nil)
        #expect(send.text("http.request.method") == "POST")
        #expect(send.number("http.response.status_code") == 200)
        #expect(send.number("http.request.resend_count") == nil)
        #expect(send.text("server.address") == "127.0.0.1")
        #expect(send.text("network.peer.address") == "127.0.0.1")
        #expect(send.text("network.protocol.version") == "1.1")
        #expect(send.text("url.template") == "/users/{id}")
        #expect(send.text("url.full")?.hasSuffix("/users/7") == true)
        #expect(send.number("http.response.body.size") == 5)
    }

    @Test func retriesAndRedirectsAreSpans() async throws {
        let visits = Mutex(0)
        let spans = try await trace(configure: {
            $0.retryPolicy = RetryPolicy(limit: 1)
            $0.retryPolicy.backoff.first = .milliseconds(1)
            $0.cacheStore = MemoryCacheStore()
        }) {
            $0.on("/a") { _ in
                let isFirst = visits.withLock { visits in
                    visits += 1
                    return visits == 1
                }
                return isFirst ? .status(.serviceUnavailable) : .redirect(to: "/b")
            }
            $0.on("/b") { _ in
                MockResponse(headerFields: [.cacheControl: "max-age=60"], body: .text("hello"))
            }
        } perform: { session, _, tracer in
            _ = try await tracer.withSpan("caller") { _ in try await session.get("a").text() }
            _ = try await session.get("b").text()
        }
        #expect(spans.map(\.operationName) == ["GET", "GET", "GET", "caller", "cache hit"])
        #expect(spans.map { $0.number("http.request.resend_count") } == [nil, 1, 2, nil, nil])
        #expect(spans.map { $0.number("http.response.status_code") } == [503, 302, 200, nil, nil])
        #expect(spans[0].text("error.type") == "503")
        #expect(spans[0].status?.code == .error && spans[1].status == nil)
        #expect(spans[3].events.map(\.name) == ["linnet.retry"])
        #expect(spans[4].text("linnet.cache.outcome") == "hit")
    }

    @Test func noSecretIsInASpan() async throws {
        let spans = try await trace {
            $0.on("/a") { _ in
                MockResponse(headerFields: [.setCookie: "session=hunter4"], body: .text("hunter5"))
            }
        } perform: { session, server, _ in
            let url = "http://user:hunter6@127.0.0.1:\(server.port)/a?access_token=hunter2"
            _ = try await session.get(url).header(.authorization, "Bearer hunter1")
                .header(.cookie, "a=hunter3").text()
        }
        #expect(spans.count == 1)
        for span in spans {
            span.attributes.forEach { name, value in
                #expect(!"\(value)".contains("hunter"), "\(name): \(value)")
            }
        }
    }

    /// A tracer whose context a hostile caller has chosen.
    @Test(arguments: ["a\r\nx: y", String(repeating: "x", count: TracingInstrument.maximumFieldSize + 1), "\0"])
    func badBaggageIsLeftOut(value: String) async throws {
        #expect(try await baggage(value) == nil)
    }

    @Test func baggageOfTheMaximumSizeIsSent() async throws {
        let value = String(repeating: "x", count: TracingInstrument.maximumFieldSize)
        #expect(try await baggage(value) == value)
    }

    /// The baggage that a server receives from a tracer with this value.
    private func baggage(_ value: String) async throws -> String? {
        try await withMockServer(routes: MockServer.Routes { $0.on("/a") { _ in .text("hello") } }) { server in
            let session = try HTTPSession(baseURL: server.url) {
                $0.instruments = [.tracing(tracer: InjectingTracer(value: value))]
            }
            #expect(try await session.get("a").text() == "hello")
            let fields = try #require(server.recordedRequests.first).headerFields
            #expect(fields[.init("x") ?? .cookie] == nil)
            await session.shutdown()
            return fields[.init("baggage") ?? .cookie]
        }
    }
}

extension FinishedInMemorySpan {
    fileprivate func text(_ name: String) -> String? {
        if case .string(let text)? = attributes.get(name) { text } else { nil }
    }

    fileprivate func number(_ name: String) -> Int64? {
        if case .int64(let number)? = attributes.get(name) { number } else { nil }
    }
}

/// Injects a field with any value.
private struct InjectingTracer: Tracer {
    let value: String

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> NoOpTracer.NoOpSpan {
        NoOpTracer().startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
            line: line)
    }

    func forceFlush() {}

    func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        injector.inject(value, forKey: "baggage", into: &carrier)
        injector.inject("y", forKey: "not a field", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}
}
#endif
