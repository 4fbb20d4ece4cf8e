import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Logging
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct LoggingTests {
    @Test(arguments: Surface.allCases)
    func everyAttemptIsWrittenWithStaticMessages(surface: Surface) async throws {
        let lines = EventRecorder<RecordingLogHandler.Line>()
        let transport = StubTransport { request in
            switch request.index {
            case 0: .status(302, headerFields: [.location: "/moved?token=s3cret"])
            case 1: throw TransportError(.connectionFailed, "s3cret")
            default: .json("1")
            }
        }
        let client = try makeClient(transport) {
            $0.logger = RecordingLogHandler.logger(lines, .debug)
            $0.hooks.willRetry = { _, attempt, decision in
                attempt.error == nil ? decision : .retry(after: .zero)
            }
        }
        _ = try await surface.send("a", with: client).get()
        #expect(
            lines.events.map(\.message) == [
                "sending request", "response received", "sending request", "request failed", "retrying request",
                "sending request", "response received",
            ])
        #expect(lines.events.map(\.level) == [.debug, .debug, .debug, .warning, .notice, .debug, .debug])
        #expect(lines.events[1].metadata["status"] == "302")
        #expect(lines.events[2].metadata["url"] == "http://example.com/moved?token=<redacted>")
        #expect(lines.events[3].metadata["error"] == "connectionFailed")
        #expect(lines.events[3].metadata["cause"] == "connectionFailed")
        #expect(lines.events[4].metadata["error"] == "connectionFailed")
        #expect(lines.events[4].value("attempt", as: Int.self) == 1)
        #expect(lines.events.map { $0.metadata["send"] } == ["1", "1", "2", "2", nil, "3", "3"])
        #expect(Set(lines.events.map { $0.metadata["request"] }).count == 1)
        #expect(lines.events[5].metadata["method"] == "GET")
        #expect(!lines.events.contains { "\($0)".contains("s3cret") })
    }

    @Test func fieldsAreWrittenAtTraceAndSecretsNever() async throws {
        let lines = EventRecorder<RecordingLogHandler.Line>()
        let transport = StubTransport { _ in
            .status(
                200, headerFields: [.setCookie: "id=s3cret", .contentType: "text/plain"], body: Data("s3cret".utf8))
        }
        var configuration = HTTPSession.Configuration()
        configuration.logger = RecordingLogHandler.logger(lines, .trace)
        configuration.credentialStore = CredentialStore()
        let session = try HTTPSession(configuration: configuration, transport: transport)
        let url = try #require(URL(string: "http://ada:s3cret@example.com/?sig=s3cret"))
        var request = SessionRequest(url: url, method: .post, headerFields: [.cookie: "s3cret", .accept: "shown"])
        request.body = .data(Data("s3cret".utf8))
        _ = try await session.call(request).response()
        let text = lines.events.map { "\($0)" }.joined()
        #expect(text.contains("Accept: shown"))
        #expect(text.contains("Content-Type: text/plain"))
        #expect(text.contains("Set-Cookie: <redacted>"))
        #expect(!text.contains("s3cret"))
    }

    @Test func nothingIsWrittenByDefault() async throws {
        #expect(HTTPSession.Configuration().logger == nil)
    }
}

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct MetricsTableTests {
    @Test func attemptsAreLines() {
        let start = ContinuousClock.now
        var first = TransportMetrics()
        first.start = start
        first.queue = .init(start: start, end: start + .milliseconds(12))
        first.nameResolution = .init(start: start, end: start + .microseconds(1250))
        first.connect = .init(start: start, end: start + .milliseconds(3))
        first.tlsHandshake = .init(start: start, end: start + .milliseconds(7))
        first.requestStart = start + .milliseconds(12)
        first.requestEnd = start + .milliseconds(13)
        first.responseStart = start + .milliseconds(33)
        first.responseEnd = start + .milliseconds(34)
        first.httpVersion = "h2"
        first.connectionID = 2
        first.remoteAddress = "192.0.2.7:443"
        first.responseBodyBytes = 1024
        var second = TransportMetrics()
        second.isReusedConnection = true
        let lines = [first, second].table.split(separator: "\n")
        #expect(
            lines == [
                "  # protocol  connection       queue      dns  connect      tls     send     wait     read    total     sent received  address",
                "  1 h2        2 new             12.0      1.3      3.0      7.0      1.0     20.0      1.0     34.0        0     1024  192.0.2.7:443",
                "  2 -         0 reused             -        -        -        -        -        -        -        -        0        0  -",
            ])
    }

    @Test func aResponsesMetricsPrint() async throws {
        try await withMockClient {
            $0.on("/a", .json("1"))
        } perform: { client, server in
            let table = try await client.get("a").response(JSONResponseSerializer()).metrics.table
            #expect(table.split(separator: "\n").count == 2)
            #expect(table.contains("http/1.1"))
            #expect(table.hasSuffix(":\(server.port)"))
        }
    }
}
