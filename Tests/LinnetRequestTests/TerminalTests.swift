import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

private let linnet = BuiltProgram("linnet")
private let hasScript = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

/// `linnet` in a terminal, which `script` provides.
@Suite(
    .timeLimit(.minutes(2)), .enabled(if: linnet.exists, "linnet is not beside the tests"),
    .enabled(if: hasScript, "script is not installed"))
struct TerminalTests {
    private func run(_ arguments: String, _ response: MockResponse) async throws -> String {
        try await withMockServer(response) { server in
            let line = "\(linnet.path) 127.0.0.1:\(server.port) \(arguments)"
            let run = try await Command.run(
                ["/usr/bin/env", "TERM=xterm", "NO_COLOR=", "/usr/bin/script", "-qec", line, "/dev/null"])
            return run.text.replacing("\r\n", with: "\n")
        }
    }

    @Test func jsonIsColoredAndIndented() async throws {
        let text = try await run("", .json(#"{"a":1}"#))
        #expect(text.contains("{\n    \u{1B}[36m\"a\"\u{1B}[0m: \u{1B}[33m1\u{1B}[0m\n}\n"), "\(text.debugDescription)")
        #expect(try await run("| cat", .json(#"{"a":1}"#)).contains(#"{"a":1}"#))
    }

    @Test func aBodyCannotControlTheTerminal() async throws {
        let text = try await run(
            "-i", MockResponse(headerFields: [.server: "x\u{9B}31m"], body: .text("\u{1B}]0;t\u{7}")))
        #expect(text.contains("\u{241B}]0;t\u{2407}\n") && !text.contains("\u{1B}") && !text.contains("\u{9B}"))
    }

    @Test func aSlowDownloadHasABarOnATerminalOnly() async throws {
        try await Scratch.with { scratch in
            var response = MockResponse(body: .bytes(Data(repeating: 1, count: 100_000)))
            response.throttle = .init(bytes: 5_000, pause: .milliseconds(50))
            let text = try await run("-o \(scratch.file("a"))", response)
            #expect(text.contains("] ") && text.contains(" of 100.0 kB") && text.contains("\r\u{1B}[K"), "\(text)")
            #expect(try scratch.read("a").count == 100_000)
            let silent = try await run("-o \(scratch.file("a")) 2>&1 | cat", response)
            #expect(silent.isEmpty, "\(silent)")
        }
    }
}
