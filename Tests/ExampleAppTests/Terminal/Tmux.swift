import CommandSupport
import FoundationEssentials

/// A shell in a terminal of tmux, which a test types into and looks at.
struct Tmux: Sendable {
    /// The text did not appear in time.
    struct TimedOut: Error, CustomStringConvertible {
        let description: String
    }

    static let isInstalled = (try? Command.run(["tmux", "-V"]))?.status == 0

    private let socket = "linnet-\(UUID().uuidString)"

    /// Starts a shell in a terminal of a size.
    init(width: Int, height: Int, environment: [String: String] = [:]) async throws {
        let variables = environment.merging(["LC_ALL": "C.UTF-8", "ENV": ""]) { first, _ in first }
        let settings = variables.sorted { $0.key < $1.key }.flatMap { ["-e", "\($0.key)=\($0.value)"] }
        try await command(
            ["-f", "/dev/null", "new-session", "-d", "-x", "\(width)", "-y", "\(height)"] + settings + ["sh"])
        try await enter("PS1='ready$ '")
        try await wait("the shell") { $0.split(separator: "\n").contains { $0.hasSuffix("ready$") } }
    }

    func end() async {
        _ = try? await command(["kill-server"])
    }

    /// Types keys by their names in tmux, such as `j`, `PageDown` or `C-c`.
    func press(_ keys: String...) async throws {
        try await command(["send-keys"] + keys)
    }

    /// Types a line for the shell.
    func enter(_ line: String) async throws {
        try await command(["send-keys", "-l", line])
        try await press("Enter")
    }

    func resize(width: Int, height: Int) async throws {
        try await command(["resize-window", "-x", "\(width)", "-y", "\(height)"])
    }

    /// The text on the screen.
    func screen() async throws -> String {
        try await command(["capture-pane", "-p"])
    }

    /// A property of the terminal, such as `alternate_on`.
    func property(_ name: String) async throws -> String {
        try await command(["display-message", "-p", "#{\(name)}"]).filter { !$0.isNewline }
    }

    /// Waits until the screen contains a text, and returns the screen.
    @discardableResult
    func wait(for text: String) async throws -> String {
        try await wait("\"\(text)\"") { $0.contains(text) }
    }

    /// Waits until the screen fulfils a condition, which may take 20 seconds, and returns it.
    @discardableResult
    func wait(_ what: String, until condition: (String) -> Bool) async throws -> String {
        let deadline = ContinuousClock.now + .seconds(20)
        var screen = ""
        while ContinuousClock.now < deadline {
            screen = try await self.screen()
            if condition(screen) { return screen }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TimedOut(description: "The screen does not show \(what):\n\(screen)")
    }

    @discardableResult
    private func command(_ arguments: [String]) async throws -> String {
        let run = try await Command.run(["tmux", "-u", "-L", socket] + arguments)
        guard run.status == 0 else { throw TimedOut(description: "tmux \(arguments): \(run.errors)") }
        return run.text
    }
}
