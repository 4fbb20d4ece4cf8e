import CommandSupport
import FoundationEssentials
import Testing

/// The built program in a real terminal.
@Suite(
    .timeLimit(.minutes(2)), .enabled(if: Tmux.isInstalled, "tmux is not installed"),
    .enabled(if: BuiltProduct.exampleApp.exists, "ExampleApp is not beside the tests"))
struct TmuxTests {
    @Test func theTimelineIsReadScrolledRefreshedAndTransferred() async throws {
        try await withApp { tmux in
            let start = try await tmux.wait(for: "pinned")
            #expect(start.contains("ada") && start.contains("1/20") && start.contains("ago"))
            #expect(start.contains("r refresh  d download") && start.contains("q quit"))
            try await tmux.wait("pictures") { $0.contains("▀") }
            #expect(try await tmux.property("alternate_on") == "1")

            try await tmux.press("r")
            try await tmux.wait("a response of the cache") { $0.contains("cache hit") || $0.contains("cache reval") }

            try await tmux.press("j", "Down")
            try await tmux.wait(for: "3/20")
            try await tmux.press("PageDown")
            try await tmux.wait("a later post") { !$0.contains("3/20") && !$0.contains("(48 of 48)") }
            try await tmux.press("Home")
            try await tmux.wait(for: "1/20")

            try await tmux.press("d")
            try await tmux.wait(for: "birds-1000.bin finished")
            try await tmux.press("Down", "Down", "Down", "u")
            try await tmux.wait(for: ".png finished: status 201")

            for (key, title) in [("i", "Last request"), ("p", "Certificate and pins"), ("n", "  Network")] {
                try await tmux.press(key)
                try await tmux.wait(for: title)
            }
            try await tmux.press("?")
            try await tmux.wait(for: "for await status in statuses")
            try await tmux.press("?", "Escape")
            try await tmux.wait("no panel") { !$0.contains("  Network") && $0.contains("ada") }

            try await tmux.resize(width: 40, height: 20)
            try await tmux.wait("a narrow screen") { screen in
                screen.split(separator: "\n").allSatisfy { $0.count <= 40 } && screen.contains("4/20")
            }
            try await tmux.press("q")
            try await expectCleanTerminal(tmux, status: 0)
            let screen = try await tmux.screen()
            #expect(screen.contains("Downloaded: "))
        }
    }

    /// The slow server takes 28 seconds for the file.
    @Test func aDownloadIsSuspendedResumedAndCancelled() async throws {
        try await withApp("--slow") { tmux in
            try await startDownload(tmux)
            try await tmux.press("s")
            try await tmux.wait(for: "suspended, ")
            try await tmux.press("s")
            try await tmux.wait("a bar") { $0.contains(" %, ") && !$0.contains("suspended, ") }
            try await tmux.press("c")
            try await tmux.wait(for: "birds-1000.bin cancelled")
            try await tmux.press("q")
            try await expectCleanTerminal(tmux, status: 0)
        }
    }

    @Test func aDownloadGoesOnAfterTheProgramWasEnded() async throws {
        try await withApp("--slow") { tmux in
            try await startDownload(tmux)
            try await tmux.press("q")
            try await tmux.wait(for: "The download goes on when the app is next started.")
            try await expectCleanTerminal(tmux, status: 0)
            try await tmux.enter("clear; \(BuiltProduct.exampleApp.path)")
            try await tmux.wait(for: "birds-1000.bin finished")
            try await tmux.press("q")
            try await tmux.wait(for: "Downloaded: ")
        }
    }

    private func startDownload(_ tmux: Tmux) async throws {
        try await tmux.wait(for: "pinned")
        try await tmux.press("d")
        try await tmux.wait("a bar") { $0.contains("↓ birds-1000.bin") && $0.contains("█") }
    }

    @Test(arguments: [("C-c", 130), ("TERM", 143), ("HUP", 129), ("INT", 130)])
    func aSignalLeavesTheTerminalClean(signal: String, status: Int32) async throws {
        try await withApp { tmux in
            try await tmux.wait(for: "pinned")
            if signal == "C-c" {
                try await tmux.press("C-c")
            } else {
                let pane = try await tmux.property("pane_pid")
                let kill = try await Command.run(["pkill", "-\(signal)", "-P", pane])
                #expect(kill.status == 0)
            }
            try await expectCleanTerminal(tmux, status: status)
        }
    }

    @Test func aStoppedProgramGivesTheTerminalBackAndContinues() async throws {
        try await withApp { tmux in
            try await tmux.wait(for: "pinned")
            try await tmux.press("C-z")
            try await tmux.wait("the shell") { $0.contains("Stopped") && !$0.contains("pinned") }
            #expect(try await tmux.property("alternate_on") == "0")
            #expect(try await tmux.property("cursor_flag") == "1")
            try await tmux.enter("fg")
            try await tmux.wait(for: "pinned")
            #expect(try await tmux.property("alternate_on") == "1")
            try await tmux.press("q")
            try await tmux.wait("the shell") { !$0.contains("pinned") && $0.contains("ready$") }
            #expect(try await tmux.property("alternate_on") == "0")
        }
    }

    /// News that reaches a stopped program must not be drawn on the shell's screen, and must not move the shell's
    /// cursor.
    @Test func aProgramThatContinuesLeavesTheShellsScreenAlone() async throws {
        try await withApp { tmux in
            try await tmux.wait(for: "pinned")
            try await tmux.press("C-z")
            try await tmux.wait("the shell") { $0.contains("Stopped") && !$0.contains("pinned") }
            let pane = try await tmux.property("pane_pid")
            let signalled = try await Command.run(["pkill", "-WINCH", "-P", pane])
            #expect(signalled.status == 0)
            try await tmux.enter("fg")
            try await tmux.wait(for: "pinned")
            try await tmux.press("q")
            let screen = try await tmux.wait("the shell") { !$0.contains("pinned") && $0.contains("$ fg") }
            let lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(screen.contains("Stopped"))
            #expect(!screen.contains("ada"))
            try await tmux.enter("echo back:$((1+1)):")
            let after = try await tmux.wait(for: "back:2:").split(separator: "\n", omittingEmptySubsequences: false)
            let last = try #require(lines.lastIndex { $0.contains("$ fg") })
            #expect(after.prefix(last + 1) == lines.prefix(last + 1))
        }
    }

    @Test func anUntrustedServerIsRefusedOnTheScreen() async throws {
        try await withApp("--bad-pin") { tmux in
            try await tmux.wait(for: "The server is not trusted, and nothing was sent.")
            let screen = try await tmux.wait(for: "Wanted:")
            #expect(screen.contains("Seen, the server's first:") && screen.contains("another source confirms"))
            let pins = screen.split(separator: "\n").filter { $0.contains("sha256/") && $0.contains("=") }
            #expect(pins.count >= 2)
            try await tmux.press("q")
            try await expectCleanTerminal(tmux, status: 0)
        }
    }

    @Test func withoutANetworkThereIsABannerAndNoColorIsObeyed() async throws {
        try await withApp("--offline", environment: ["NO_COLOR": "1"]) { tmux in
            try await tmux.wait(for: "No network: not reachable")
            try await tmux.press("q")
            try await expectCleanTerminal(tmux, status: 0)
        }
    }

    @Test func inADumbTerminalThePostsArePrinted() async throws {
        try await withApp(environment: ["TERM": "dumb"], prefix: "TERM=dumb ") { tmux in
            try await tmux.wait(for: "status:0:")
            #expect(try await tmux.screen().contains("@ada: "))
        }
    }

    /// Starts the app from a shell, which prints its settings before and after.
    private func withApp(
        _ arguments: String..., environment: [String: String] = [:], prefix: String = "",
        _ body: (Tmux) async throws -> Void
    ) async throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "linnet-tmux-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let variables = [
            "COLORTERM": "truecolor", "NO_COLOR": "", "TMPDIR": scratch.path, "XDG_STATE_HOME": scratch.path,
        ]
        let tmux = try await Tmux(width: 100, height: 30, environment: variables.merging(environment) { $1 })
        do {
            let program = ([BuiltProduct.exampleApp.path] + arguments).joined(separator: " ")
            try await tmux.enter("stty -g >$TMPDIR/before; clear; \(prefix)\(program); echo status:$?:")
            try await body(tmux)
        } catch {
            await tmux.end()
            throw error
        }
        await tmux.end()
    }

    /// Requires that the shell is back, with the exit status, the terminal's settings of before, and a cursor.
    private func expectCleanTerminal(_ tmux: Tmux, status: Int32) async throws {
        try await tmux.wait(for: "status:\(status):")
        #expect(try await tmux.property("alternate_on") == "0")
        #expect(try await tmux.property("cursor_flag") == "1")
        #expect(try await tmux.property("wrap_flag") == "1")
        try await tmux.enter("stty -g | diff $TMPDIR/before - && echo settings:$((1+1)):")
        try await tmux.wait(for: "settings:2:")
    }
}
