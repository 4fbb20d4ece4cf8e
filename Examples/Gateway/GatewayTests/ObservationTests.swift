import GatewayServer
import HTTPTypes
import Linnet
import LinnetTesting
import Metrics
import Testing
import Tracing

@Suite(.timeLimit(.minutes(1)))
struct ObservationTests {
    @Test func metricsAreInPrometheusFormatAndWithoutSecrets() async throws {
        try await withGateway { request in
            request.path == "/broken/42" ? .status(.internalServerError) : .text("ok")
        } perform: { gateway in
            for path in ["/api/users/42?token=s3cret", "/api/users/43", "/api/broken/42"] {
                _ = try await gateway.get(
                    path, [.authorization: "Bearer s3cret", .cookie: "id=s3cret", .traceparent: Self.parent])
            }
            let (head, text) = try await gateway.get("/metrics")
            #expect(head.headerFields[.contentType]?.hasPrefix("text/plain; version=0.0.4") == true)
            let samples = try Self.parse(text)
            let served = samples.filter { $0.key.hasPrefix("http_server_request_duration_seconds_count{") }
            #expect(served.values.reduce(0, +) == 3)
            #expect(served.keys.contains { $0.contains(#"http_response_status_code="500""#) })
            let sent = samples.filter { $0.key.hasPrefix("http_client_request_duration_seconds_count{") }
            #expect(sent.values.reduce(0, +) == 3)
            #expect(sent.keys.allSatisfy { $0.contains(#"url_template="/api/{path}""#) })
            #expect(samples["http_server_active_requests"] == 0)
            for secret in ["s3cret", "users", "/42", "token"] { #expect(!text.contains(secret), "\(secret)") }
            for line in gateway.log.lines { #expect(!line.contains("s3cret"), "\(line)") }
        }
    }

    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// The samples of a text in Prometheus's format, by name and labels.
    private static func parse(_ text: String) throws -> [String: Double] {
        let sample = #/([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (\S+)/#
        let comment = #/# TYPE [a-zA-Z_:][a-zA-Z0-9_:]* (?:counter|gauge|histogram)/#
        var samples: [String: Double] = [:]
        for line in text.split(separator: "\n") where line.wholeMatch(of: comment) == nil {
            let match = try #require(line.wholeMatch(of: sample), "\(line)")
            let name = String(match.1)
            #expect(samples[name] == nil, "\(name) stands twice")
            samples[name] = Double(match.2)
        }
        return samples
    }

    @Test func labelsAreEscapedAndBounded() throws {
        let metrics = PrometheusMetrics()
        for value in 0..<2000 {
            Counter(label: "a.b-c", dimensions: [("l", "\"\\\n\(value)")], factory: metrics).increment()
        }
        let samples = try Self.parse(metrics.text)
        #expect(samples.count <= 502)
        #expect(samples.values.reduce(0, +) == 2000)
        #expect(samples[#"a_b_c_total{l="\"\\\n7"}"#] == 1)
    }

    @Test func histogramsAreCumulative() throws {
        let metrics = PrometheusMetrics()
        let timer = Metrics.Timer(label: "t", factory: metrics)
        for milliseconds in [1, 20, 20_000] { timer.recordNanoseconds(Int64(milliseconds) * 1_000_000) }
        let samples = try Self.parse(metrics.text)
        #expect(samples[#"t_seconds_bucket{le="0.001"}"#] == 1)
        #expect(samples[#"t_seconds_bucket{le="0.025"}"#] == 2)
        #expect(samples[#"t_seconds_bucket{le="10"}"#] == 2)
        #expect(samples[#"t_seconds_bucket{le="+Inf"}"#] == 3)
        #expect(samples["t_seconds_count"] == 3)
    }

    @Test func aCallersTraceGoesOn() async throws {
        try await withGateway { _ in
            .text("ok")
        } perform: { gateway in
            _ = try await gateway.get(
                "/api/x",
                [
                    .traceparent: Self.parent, .tracestate: "vendor=1",
                    try #require(HTTPField.Name("Baggage")): "tenant=7",
                ])
            let fields = try #require(gateway.upstream.recordedRequests.first).headerFields
            let sent = try #require(fields[.traceparent]).split(separator: "-")
            #expect(sent[1] == "0af7651916cd43dd8448eb211c80319c")
            #expect(sent[2] != "b7ad6b7169203331")
            #expect(fields[.tracestate] == "vendor=1")
            #expect(fields[try #require(HTTPField.Name("Baggage"))] == "tenant=7")
            try await wait { gateway.log.lines.count { $0.contains("trace_id=0af7651916cd43dd8448eb211c80319c") } >= 2 }
            let spans = gateway.log.lines.filter { $0.contains("trace_id=") }
            #expect(spans.contains { $0.contains("kind=server") && $0.contains("parent_id=b7ad6b7169203331") })
            #expect(spans.contains { $0.contains("kind=client") && $0.contains("url.template=/api/{path}") })
        }
    }

    @Test(arguments: [
        "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-extra",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
        "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01", String(repeating: "0", count: 20_000),
    ])
    func aHostileTraceparentBeginsANewTrace(value: String) async throws {
        #expect(TraceContext(traceparent: value, tracestate: nil, baggage: nil) == nil)
        try await withGateway { _ in
            .text("ok")
        } perform: { gateway in
            _ = try await gateway.get("/api/x", [.traceparent: value, .tracestate: "a=1"])
            let fields = try #require(gateway.upstream.recordedRequests.first).headerFields
            let sent = try #require(fields[.traceparent])
            #expect(TraceContext(traceparent: sent, tracestate: nil, baggage: nil) != nil)
            #expect(sent != value && !sent.contains("0af7651916cd43dd8448eb211c80319c"))
            #expect(fields[.tracestate] == nil)
        }
    }

    @Test(arguments: [
        ("a=1,b@c=2", "tenant=7;p=2, b = 3", true),
        (String(repeating: "x", count: 600) + "=1", String(repeating: "x", count: 9000) + "=1", false),
    ])
    func longFieldsOfATraceAreDropped(state: String, baggage: String, arePassedOn: Bool) throws {
        let context = try #require(TraceContext(traceparent: Self.parent, tracestate: state, baggage: baggage))
        #expect((context.state != nil) == arePassedOn)
        #expect((context.baggage != nil) == arePassedOn)
    }

    @Test func aGatewayCanBeWithoutMetricsAndTraces() async throws {
        try await withGateway(settings: { $0.isObserved = false }) { request in
            .text(request.headerFields[.traceparent] ?? "none")
        } perform: { gateway in
            let text = try await gateway.get("/api/x", [.traceparent: Self.parent]).text
            #expect(text == "none")
            try await gateway.expect(.notFound, for: "/metrics")
        }
    }

    @Test func aRatioDecidesWhichTracesAreLogged() async throws {
        try await withGateway(settings: { $0.traceRatio = 0 }) { _ in
            .text("ok")
        } perform: { gateway in
            _ = try await gateway.get("/api/x", [.traceparent: Self.parent])
            let sent = try #require(gateway.upstream.recordedRequests.first?.headerFields[.traceparent])
            #expect(sent.hasSuffix("-00"))
            #expect(!gateway.log.lines.contains { $0.contains("trace_id=") })
        }
    }
}
