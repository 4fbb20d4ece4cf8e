import ArgumentParser
import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

@testable import ExampleApp

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct ErrorLineTests {
    @Test func aWrongPinIsReportedWithTheSeenAndWantedPins() async throws {
        let wanted = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let server = try await EmbeddedServer.start()
        let line = try await errorLine(from: server.url, server.policy(for: TimelineOptions.parse(["--pin", wanted])))
        await server.shutdown()
        #expect(line.contains("seen: \(server.pin)"))
        #expect(line.contains("wanted: \(wanted)"))
        #expect(line.contains("--pin"))
    }

    @Test func anUnknownAuthorityIsReported() async throws {
        let server = try await EmbeddedServer.start()
        let line = try await errorLine(from: server.url)
        await server.shutdown()
        #expect(line.contains("does not lead to a trusted anchor"))
        #expect(line.contains("SSL_CERT_FILE"))
    }

    @Test func aServerErrorSuggestsToRetryLater() async throws {
        let line = try await errorLine(.status(.internalServerError))
        #expect(line.contains("500"))
        #expect(line.contains("try again later"))
    }

    @Test func aNotFoundStatusSuggestsToCheckTheURL() async throws {
        let line = try await errorLine(.status(.notFound))
        #expect(line.contains("404"))
        #expect(line.contains("--url"))
    }

    @Test(arguments: [
        ("{", "does not decode as Timeline"),
        (#"{"posts":[]}"#, "the key \"data\" is missing"),
        (#"{"data":[{"id":1,"text":2}]}"#, "data[0].text"),
    ])
    func invalidJSONIsReportedWithItsReason(json: String, part: String) async throws {
        let line = try await errorLine(.json(json))
        #expect(line.contains(part))
        #expect(line.contains("--url"))
    }

    @Test func anUnexpectedContentTypeIsReported() async throws {
        let line = try await errorLine(.text("hello"))
        #expect(line.contains("text/plain"))
    }

    @Test func anUnreachableServerIsReported() async throws {
        // No process listens on port 1, which is reserved.
        let line = try await errorLine(from: try #require(URL(string: "http://127.0.0.1:1/")))
        #expect(line.contains("127.0.0.1:1"))
        #expect(line.contains("Check the name and the port"))
    }

    private func errorLine(_ response: MockResponse) async throws -> String {
        try await withMockServer(response) { try await errorLine(from: $0.url) }
    }

    private func errorLine(from url: URL, _ policy: SecurityPolicy = .systemTrust) async throws -> String {
        let error = await #expect(throws: SessionError.self) {
            try await TimelineClient.fetch(20, from: url, policy: policy)
        }
        let line = ErrorLine.text(try #require(error))
        #expect(line.hasPrefix("ExampleApp: "))
        #expect(!line.contains { $0.isNewline })
        return line
    }
}
