import ArgumentParser
import ExampleSupport
import FoundationEssentials
import LinnetBackground

/// The options of all commands.
struct SessionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The session, whose journal is below $XDG_STATE_HOME.", valueName: "name"))
    var session = "transfers"

    @Option(help: ArgumentHelp("The directory of the journal, instead of the session's.", valueName: "dir"))
    var directory: String?

    @Flag(name: .customLong("json"), help: "Print JSON, one object in a line.")
    var isJSON = false

    /// Opens the session, and shuts it down afterwards. Errors are printed, and end the process with their exit code.
    func use(
        as role: BackgroundSession.Configuration.Role,
        _ configure: (inout BackgroundSession.Configuration) -> Void = { _ in },
        _ perform: (BackgroundSession) async throws -> Void
    ) async throws {
        do {
            let background = try await BackgroundSession(session, directory: directory.map { URL(filePath: $0) }) {
                $0.role = role
                configure(&$0)
            }
            if let damage = background.journalDamage { try complain(damage.message) }
            do {
                try await perform(background)
                await background.shutdown()
            } catch {
                await background.shutdown()
                throw error
            }
        } catch let error as BackgroundError {
            try complain(error.message)
            throw ExitCode(error.code == .noSuchTask ? 2 : 1)
        } catch let error as UsageError {
            try complain(error.message)
            throw ExitCode.validationFailure
        }
    }

    func complain(_ text: String) throws {
        try StandardStream.error.write("\(ProgramName.inMessages(of: "transfers")): \(OneLine.text(text))\n")
    }

    /// Prints a task.
    func show(_ task: BackgroundTask) throws {
        let line = TaskLine(task)
        try StandardStream.output.write(try (isJSON ? line.json() : line.text) + "\n")
    }
}
