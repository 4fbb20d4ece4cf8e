import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetTransport
import Logging
import Testing

/// The table of the log in the documentation of LinnetSession.
@Suite("The table of the log", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct LogTableTests {
    /// A row of the documented table, and a response or a failure that it is about.
    struct Row: Sendable, CustomTestStringConvertible {
        var event: String
        var message: String
        var level: Logger.Level
        /// A status, or the code of the error with which the transport fails.
        var outcome: Result<Int, TransportError>
        var error: SessionError.Code?

        var isHedge: Bool { message == "hedging request" }
        var isRefusedRetry: Bool { message == "retry budget exhausted" }
        var line: String { "| \(event) | `\(message)` | `\(level)` |" }
        var testDescription: String { line }

        static func response(
            _ event: String, _ level: Logger.Level, status: Int, message: String = "response received"
        ) -> Row {
            Row(event: event, message: message, level: level, outcome: .success(status))
        }

        static func failure(_ error: SessionError.Code, _ level: Logger.Level, _ code: TransportError.Code) -> Row {
            Row(
                event: "A failure: ``SessionError/Code/\(error)``", message: "request failed", level: level,
                outcome: .failure(TransportError(code, "No.")), error: error)
        }
    }

    static let rows: [Row] = [
        .response("A request is sent", .debug, status: 200, message: "sending request"),
        .response("A response with a status below 500", .debug, status: 499),
        .response("A response with a status of 500 to 599", .warning, status: 500),
        .failure(.cancelled, .debug, .cancelled),
        .failure(.trustRefused, .error, .trustRefused),
        .failure(.connectionFailed, .warning, .connectionFailed),
        .failure(.nameResolutionFailed, .warning, .nameResolutionFailed),
        .failure(.connectionLost, .warning, .connectionClosed),
        .failure(.tlsFailed, .warning, .tlsHandshakeFailed),
        .failure(.timeout, .warning, .readTimeout),
        Row(
            event: "Any other failure", message: "request failed", level: .info,
            outcome: .failure(TransportError(.invalidResponse, "No.")), error: .invalidResponse),
        .response("A retry, before its delay", .notice, status: 503, message: "retrying request"),
        .response("A retry that the budget does not allow", .notice, status: 503, message: "retry budget exhausted"),
        .response("Another attempt of a request whose answer is late", .debug, status: 200, message: "hedging request"),
    ]

    @Test(arguments: rows)
    func eachEventHasItsLevel(row: Row) async throws {
        let lines = EventRecorder<RecordingLogHandler.Line>()
        let clock = ManualClock()
        let transport = StubTransport { request in
            if row.isHedge, request.index == 0 { try await clock.sleep(for: .seconds(60)) }
            return .status(.init(code: try row.outcome.get()))
        }
        let client = try makeClient(transport) {
            $0.logger = RecordingLogHandler.logger(lines, .debug)
            $0.clock = clock
            if row.level == .notice { $0.retryPolicy = .limited(to: 1) }
            if row.isRefusedRetry { $0.retryBudget = RetryBudget(share: 0, minimumPerSecond: 0) }
            if row.isHedge { $0.hedging = HedgingPolicy(after: .milliseconds(2_500)) }
            $0.retryPolicy.backoff.first = .milliseconds(2_500)
            $0.retryPolicy.backoff.jitter = 0
        }
        let sending = Task { await sessionError { try await client.get("a").response() } }
        if row.isHedge || row.level == .notice && !row.isRefusedRetry {
            try await clock.waitForSleepers(count: row.isHedge ? 2 : 1)
            clock.advance(by: .seconds(3))
        }
        let error = await sending.value
        if let code = row.error { #expect(error?.code == code) }
        let line = try #require(lines.events.first { $0.message == row.message })
        #expect(line.level == row.level)
        expectNumbers(in: line, row)
        await client.shutdown()
    }

    private func expectNumbers(in line: RecordingLogHandler.Line, _ row: Row) {
        #expect(line.value("request", as: UInt64.self) != nil)
        let isRetry = row.level == .notice
        #expect(line.value("send", as: Int.self) == (isRetry || row.isHedge ? nil : 1))
        #expect(line.value("attempt", as: Int.self) == (isRetry ? 1 : row.isHedge ? 2 : nil))
        #expect(line.value("delay", as: Double.self) == (isRetry && !row.isRefusedRetry ? 2.5 : nil))
        let hasDuration = ["response received", "request failed"].contains(row.message)
        #expect((line.value("duration", as: Double.self) ?? -1 >= 0) == hasDuration)
        let hasStatus = isRetry || row.message == "response received"
        let status = try? row.outcome.get()
        #expect(line.value("status", as: Int.self) == (hasStatus ? status : nil))
        #expect(line.metadata["error"] == row.error?.description)
    }

    @Test func theConnectionIsANumber() async throws {
        let lines = EventRecorder<RecordingLogHandler.Line>()
        try await withMockClient {
            $0.logger = RecordingLogHandler.logger(lines, .debug)
        } routes: {
            $0.on("/a", .text("a"))
        } perform: { client, _ in
            for _ in 0..<2 { _ = try await client.get("/a").response() }
        }
        let received = lines.events.filter { $0.message == "response received" }
        #expect(received.map { $0.value("reused", as: Bool.self) } == [false, true])
        #expect(Set(received.map { $0.value("connection", as: UInt64.self) }).count == 1)
        #expect(received.first?.value("connection", as: UInt64.self) != nil)
    }

    @Test func theDocumentedTableIsTheTestedOne() throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = root.appending(path: "Modules/Session/LinnetSession.docc/LinnetSession.md")
        let text = String(decoding: try Data(contentsOf: page), as: UTF8.self)
        let lines = text.split(separator: "\n").drop { $0 != "| Event | Message | Level |" }.dropFirst(2)
        #expect(lines.prefix { $0.hasPrefix("|") }.map(String.init) == Self.rows.map(\.line))
    }
}
