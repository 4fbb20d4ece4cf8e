import CommandSupport
import FoundationEssentials
import LinnetJSON
import Testing

private let linnet = BuiltProgram("linnet")
private let hasMan = FileManager.default.isExecutableFile(atPath: "/usr/bin/man")

/// The manual page and the completion scripts of `linnet`.
@Suite(.timeLimit(.minutes(1)), .enabled(if: linnet.exists, "linnet is not beside the tests"))
struct ManualTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Docs/linnet.1").standardized

    /// The kept page has the help of this build. `make manual` writes it.
    @Test func theManualPageIsTheHelp() async throws {
        let help = try await linnet.run(["--experimental-dump-help"])
        let text = ManualPage(try JSONValue(parsing: help.output)).text
        if ProcessInfo.processInfo.environment["LINNET_MANUAL"] != nil { try Data(text.utf8).write(to: Self.page) }
        #expect(try String(contentsOf: Self.page, encoding: .utf8) == text, "`make manual` writes Docs/linnet.1")
        for option in ["\\-\\-cacert", "\\-\\-pin", "\\-\\-probe", "LINNET TRANSFERS", "linnet transfers add"] {
            #expect(text.contains(option), "\(option)")
        }
    }

    @Test(.enabled(if: hasMan, "man is not installed"))
    func theManualPageIsShownWithoutWarnings() async throws {
        let run = try await Command.run(
            ["/usr/bin/env", "MANWIDTH=100", "LC_ALL=C.UTF-8", "man", "--warnings", "-l", Self.page.path])
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.text.contains("linnet post example.com/posts name=x age:=3"))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func aShellCompletesTheWords(shell: String) async throws {
        let run = try await linnet.run(["--generate-completion-script", shell])
        #expect(run.status == 0, "\(run.errors)")
        for word in ["transfers", "cacert", "probe"] { #expect(run.text.contains(word), "\(word)") }
        guard shell == "bash" else { return }
        let check = try await Command.run(["bash", "-n"], input: run.text)
        #expect(check.status == 0 && check.errors.isEmpty, "\(check.errors)")
    }
}
