import FoundationEssentials
import HTTPTypes
import LinnetJSON
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetTimeline

@Suite("Timeline", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct TimelineTests {
    @Test func stepsAreNested() async throws {
        let timeline = Timeline()
        let visits = Mutex(0)
        let routes = MockServer.Routes {
            $0.on("/a") { _ in
                let isFirst = visits.withLock { visits in
                    visits += 1
                    return visits == 1
                }
                return isFirst ? .status(.serviceUnavailable) : .text("hello")
            }
        }
        try await withMockServer(routes: routes) { server in
            let session = try HTTPSession(baseURL: server.url) {
                $0.instruments = [timeline]
                $0.retryPolicy = RetryPolicy(limit: 1)
                $0.retryPolicy.backoff.first = .milliseconds(1)
            }
            _ = try await session.get("a?access_token=hunter2").text()
            await session.shutdown()
        }
        let document = try JSONValue(parsing: timeline.json())
        let events = try #require(document["traceEvents"]?.array)
        func names(_ category: String) -> [String] {
            events.filter { $0["cat"]?.string == category }.compactMap { $0["name"]?.string }
        }
        #expect(names("send") == ["GET 127.0.0.1 (1)", "GET 127.0.0.1 (2)"])
        #expect(Set(names("attempt")).isSuperset(of: ["connect", "request", "wait for response", "response"]))
        #expect(names("decision").count == 1)
        #expect(names("step").contains("pause before retry"))
        #expect(names("pool").count >= 4)
        #expect(!String(decoding: timeline.json(), as: UTF8.self).contains("hunter2"))
        // The steps of an attempt lie within a sending.
        let sends = events.filter { $0["cat"]?.string == "send" }.map(Self.span)
        for step in events where step["cat"]?.string == "attempt" {
            let span = Self.span(step)
            #expect(sends.contains { $0.lowerBound - 50 <= span.lowerBound && span.upperBound <= $0.upperBound + 50 })
        }
        let rows = Set(events.filter { $0["cat"]?.string == "send" }.compactMap { $0["tid"]?.int })
        #expect(rows.count == 1)
    }

    private static func span(_ event: JSONValue) -> ClosedRange<Double> {
        let start = event["ts"]?.double ?? 0
        return start...(start + (event["dur"]?.double ?? 0))
    }

    @Test func eventsAreBounded() async throws {
        let timeline = Timeline(limit: 3)
        let session = try HTTPSession(
            configuration: {
                var configuration = HTTPSession.Configuration()
                configuration.instruments = [timeline]
                return configuration
            }(), transport: StubTransport { _ in .json("{}") })
        for _ in 0..<5 { _ = try await session.get("http://a.example/").data() }
        await session.shutdown()
        #expect(try JSONValue(parsing: timeline.json())["traceEvents"]?.array?.count == 3)
        #expect(timeline.droppedEvents > 0)
    }

    @Test func aFileIsWritten() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "timeline-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Timeline().write(to: file)
        #expect(try JSONValue(parsing: Data(contentsOf: file))["traceEvents"]?.array == [])
        #expect(throws: (any Error).self) { try Timeline().write(to: URL(fileURLWithPath: "/nonexistent/a/b.json")) }
    }
}
