#if Metrics
import CoreMetrics
import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetTransport
import MetricsTestKit
import Synchronization
import Testing

@testable import LinnetMetrics

@Suite("Metrics", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct MetricsTests {
    private func measure(
        seriesLimit: Int = MetricsInstrument.defaultSeriesLimit,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        routes: (inout MockServer.Routes) -> Void,
        perform: (HTTPSession, MockServer) async throws -> Void
    ) async throws -> TestMetrics {
        let metrics = TestMetrics()
        try await withMockServer(routes: MockServer.Routes(routes)) { server in
            let session = try HTTPSession(baseURL: server.url) {
                $0.instruments = [.metrics(factory: metrics, seriesLimit: seriesLimit)]
                configure(&$0)
            }
            do {
                try await perform(session, server)
            } catch {
                await session.shutdown(.immediate)
                throw error
            }
            await session.shutdown()
        }
        return metrics
    }

    @Test func namesAreThoseOfTheConventions() async throws {
        let metrics = try await measure {
            $0.on("/users/7") { _ in .text("hello") }
        } perform: { session, _ in
            _ = try await session.post("users/{id}", ["x": 1]).pathVariables(["id": 7]).text()
        }
        let conventions = try Conventions()
        for metric in metrics.all where metric.label.hasPrefix("http.") {
            let known = try #require(conventions.metrics[metric.label], "\(metric.label)")
            #expect(known.instrument == metric.instrument)
            let names = Set(metric.dimensions.map(\.0))
            #expect(names.isSubset(of: known.attributes), "\(metric.label): \(names.subtracting(known.attributes))")
            #expect(names.isSuperset(of: known.required), "\(metric.label): \(known.required.subtracting(names))")
        }
        #expect(Set(metrics.all.map(\.label)).isSuperset(of: conventions.metrics.keys))
    }

    @Test func aRequestIsMeasured() async throws {
        let metrics = try await measure {
            $0.on("/users/7") { _ in .text("hello") }
        } perform: { session, server in
            _ = try await session.post("users/{id}", ["x": 1]).pathVariables(["id": 7]).text()
            #expect(server.recordedRequests.count == 1)
        }
        let timer = try #require(metrics.timers(label: "http.client.request.duration").first)
        let labels = Dictionary(uniqueKeysWithValues: timer.dimensions)
        #expect(labels["http.request.method"] == "POST")
        #expect(labels["http.response.status_code"] == "200")
        #expect(labels["url.template"] == "/users/{id}")
        #expect(labels["url.scheme"] == "http")
        #expect(labels["network.protocol.version"] == "1.1")
        #expect(labels["error.type"] == nil)
        #expect(timer.values.count == 1 && timer.values[0] > 0)
        #expect(metrics.recorders(label: "http.client.request.body.size").first?.values == [3])
        #expect(metrics.recorders(label: "http.client.response.body.size").first?.values == [5])
        #expect(metrics.meters(label: "http.client.active_requests").first?.lastValue == 0)
        for state in ["idle", "active"] {
            let meter = metrics.meters(label: "http.client.open_connections").first {
                $0.dimensions.contains { $0 == ("http.connection.state", state) }
            }
            #expect(meter?.lastValue == 0 && meter?.values.max() == 1)
        }
        #expect(metrics.timers(label: "http.client.connection.duration").first?.values.count == 1)
        #expect(metrics.timers(label: "linnet.client.connect.duration").first?.values.count == 1)
        #expect(metrics.timers(label: "linnet.client.queue.duration").first?.values.count == 1)
        #expect(metrics.meters(label: "linnet.client.waiting_requests").first?.lastValue == 0)
    }

    @Test func retriesRedirectsAndCacheAreCounted() async throws {
        let visits = Mutex(0)
        let metrics = try await measure(configure: {
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
        } perform: { session, _ in
            _ = try await session.get("a").text()
            _ = try await session.get("b").text()
        }
        func count(_ name: String, _ value: String) -> Int64 {
            metrics.counters(label: "linnet.client.decisions")
                .filter { $0.dimensions.contains { $0 == (name, value) } }.reduce(0) { $0 + $1.totalValue }
        }
        #expect(count("linnet.decision", "retry") == 1)
        #expect(count("linnet.cache.outcome", "hit") == 1)
        #expect(count("linnet.cache.outcome", "miss") >= 1)
        let statuses = metrics.timers(label: "http.client.request.duration").flatMap { timer in
            timer.values.map { _ in timer.dimensions.first { $0.0 == "http.response.status_code" }?.1 }
        }
        #expect(statuses.compactMap { $0 }.sorted() == ["200", "302", "503"])
        let failed = metrics.timers(label: "http.client.request.duration").filter {
            $0.dimensions.contains { $0 == ("error.type", "503") }
        }
        #expect(failed.count == 1)
    }

    @Test func noSecretIsInALabel() async throws {
        let metrics = try await measure {
            $0.on("/a") { _ in
                MockResponse(headerFields: [.setCookie: "session=hunter4"], body: .text("hunter5"))
            }
        } perform: { session, _ in
            _ = try await session.get("a?token=hunter2").header(.authorization, "Bearer hunter1")
                .header(.cookie, "a=hunter3").text()
            await #expect(throws: SessionError.self) { try await session.get("b?token=hunter2").text() }
        }
        for metric in metrics.all {
            #expect(!metric.dimensions.contains { $0.1.contains("hunter") || $0.1.contains("token") })
        }
    }

    /// A program that sends requests to ever new hosts, with templates that contain identifiers.
    @Test func labelsAreBounded() async throws {
        let metrics = TestMetrics()
        let session = try HTTPSession(
            configuration: {
                var configuration = HTTPSession.Configuration()
                configuration.instruments = [.metrics(factory: metrics, seriesLimit: 10)]
                return configuration
            }(), transport: StubTransport { _ in .json("{}") })
        for number in 0..<100 {
            _ = try await session.get("http://host\(number).example/a").options { $0.template = "/\(number)" }.data()
        }
        await session.shutdown()
        for label in ["http.client.request.duration", "http.client.active_requests"] {
            let series = metrics.all.filter { $0.label == label }
            #expect(series.count == 11)
            #expect(series.count { $0.dimensions.map(\.0) == ["otel.metric.overflow"] } == 1)
        }
        let durations = metrics.timers(label: "http.client.request.duration")
        #expect(durations.reduce(0) { $0 + $1.values.count } == 100)
    }

    @Test func failuresAndBreakersAreCounted() async throws {
        let metrics = TestMetrics()
        var configuration = HTTPSession.Configuration()
        configuration.instruments = [.metrics(factory: metrics)]
        configuration.circuitBreaker = CircuitBreaker { $0.minimumRequests = 1 }
        let session = try HTTPSession(
            configuration: configuration,
            transport: StubTransport { _ in throw TransportError(.connectionFailed, "No.") })
        for _ in 0..<2 {
            await #expect(throws: SessionError.self) { try await session.get("http://a.example/").data() }
        }
        await session.shutdown()
        let timer = try #require(metrics.timers(label: "http.client.request.duration").first)
        #expect(timer.dimensions.contains { $0 == ("error.type", "connectionFailed") })
        #expect(timer.values.count == 1)
        let refused = metrics.counters(label: "linnet.client.decisions")
        #expect(refused.first?.dimensions.contains { $0 == ("linnet.decision", "refused_by_circuit_breaker") } == true)
    }
}

/// A metric of any kind.
private struct AnyMetric {
    let label: String
    let dimensions: [(String, String)]
    let instrument: String
}

extension TestMetrics {
    fileprivate var all: [AnyMetric] {
        timers.map { AnyMetric(label: $0.label, dimensions: $0.dimensions, instrument: "histogram") }
            + recorders.map { AnyMetric(label: $0.label, dimensions: $0.dimensions, instrument: "histogram") }
            + meters.map { AnyMetric(label: $0.label, dimensions: $0.dimensions, instrument: "updowncounter") }
            + counters.map { AnyMetric(label: $0.label, dimensions: $0.dimensions, instrument: "counter") }
    }
}

/// The table of OpenTelemetry's conventions beside this file.
private struct Conventions {
    struct Metric: Decodable {
        let instrument: String
        let unit: String
        let required: Set<String>
        let optional: Set<String>
        var attributes: Set<String> { required.union(optional) }
    }

    let metrics: [String: Metric]

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "conventions.json")
        metrics = try JSONDecoder().decode([String: Metric].self, from: Data(contentsOf: file))
    }
}
#endif
