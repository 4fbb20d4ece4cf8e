import CommandSupport
import FoundationEssentials
import LinnetTesting
import Testing

private let linnetRequest = BuiltProgram("linnet-request")

/// The built executable, as a user runs it.
@Suite(.timeLimit(.minutes(1)), .enabled(if: linnetRequest.exists, "linnet-request is not beside the tests"))
struct LinnetRequestTests {
    @Test func theBodyAndTheFiguresArePrinted() async throws {
        try await withMockServer(.text("hello")) { server in
            let run = try await linnetRequest.run([server.url.absoluteString])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.text == "hello")
            #expect(run.errors.hasPrefix("status       200 OK\nprotocol     http/1.1\n"), "\(run.errors)")
            #expect(run.errors.contains("\nbody         5 bytes\n"), "\(run.errors)")
        }
    }

    /// Other than ASCII's control characters, a reason phrase may contain any bytes (RFC 9112, 4).
    @Test(arguments: [200, 404])
    func aReasonPhraseCannotControlTheTerminal(status: Int) async throws {
        let response = MockResponse.raw(
            "HTTP/1.1 \(status) A\u{9B}31mB\u{85}C\u{202E}D\u{2066}E\u{2028}F\tG\r\nContent-Length: 2\r\n\r\nhi")
        try await withMockServer(response) { server in
            let run = try await linnetRequest.run([server.url.absoluteString])
            #expect(run.status == (status == 200 ? 0 : 22), "\(run.errors)")
            #expect(run.text == "hi")
            #expect(run.errors.hasPrefix("status       \(status) A 31mB CDE F G\n"), "\(run.errors)")
            #expect(!run.errors.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
        }
    }
}
