import CommandSupport
import Foundation
import Linnet
import Testing

/// Tests of the built executable.
@Suite(
    .leavesNothingAlive, .timeLimit(.minutes(1)),
    .enabled(if: BuiltProduct.exampleApp.exists, "ExampleApp is not beside the tests"))
struct ExampleAppProcessTests {
    @Test func itPrintsThePostsAndTheSummary() async throws {
        let run = try await BuiltProduct.run([])
        let lines = run.output.split(separator: "\n")
        #expect(run.status == 0)
        #expect(run.error.isEmpty)
        #expect(lines.filter { $0.hasPrefix("@") && $0.contains(": ") }.count >= 20)
        #expect(lines.last?.contains(" · pinned · ") == true && lines.last?.contains(" · sha256/") == true)
        #expect(lines.last?.contains("TLSv1.3") == true)
    }

    @Test func aWrongPinFailsWithOneLine() async throws {
        let wanted = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let run = try await BuiltProduct.run(["--pin", wanted])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.error.split(separator: "\n").count == 1)
        #expect(run.error.contains("seen: sha256/"))
        #expect(run.error.contains("wanted: \(wanted)"))
    }

    @Test func thePostsAndTheFactsArePrintedAsJSON() async throws {
        let run = try await BuiltProduct.run(["--json", "--page-size", "2"])
        #expect(run.status == 0)
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(run.output.utf8))
        #expect(document["posts"]?.array?.count == 2)
        #expect(document["posts"]?[0]?["user"]?["username"]?.string == "ada")
        #expect(document["response"]?["isPinned"]?.bool == true)
        #expect(document["response"]?["encryption"]?.string?.hasPrefix("TLSv1.3") == true)
    }

    /// A server that closes connections at once may do so before or after the client's system has seen them open.
    @Test(arguments: [
        ("--offline", ["during the TLS handshake", "could not be opened"]), ("--bad-pin", ["seen: sha256/"]),
    ])
    func aMisbehavingServerFailsWithOneLine(option: String, parts: [String]) async throws {
        let run = try await BuiltProduct.run([option])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.error.split(separator: "\n").count == 1)
        #expect(parts.contains { run.error.contains($0) })
    }

    @Test(arguments: ["--slow", "--flaky"])
    func thePostsArePrintedDespiteServerFailures(option: String) async throws {
        let run = try await BuiltProduct.run([option])
        #expect(run.status == 0)
        #expect(run.output.contains("@ada: "))
    }

    @Test func anInvalidPinIsAUsageError() async throws {
        let run = try await BuiltProduct.run(["--pin", "nonsense"])
        #expect(run.status == 64)
        #expect(run.error.contains("is not a pin"))
    }
}
