package import ArgumentParser
import ExampleSupport

/// Downloads and uploads that go on without the program that began them.
package struct TransfersCommand: AsyncParsableCommand {
    private static let program = ProgramName.inMessages(of: "transfers")

    package static let configuration = CommandConfiguration(
        commandName: ProgramName.ofCommand("transfers"),
        abstract: "Downloads and uploads that go on without the program that began them.",
        discussion: """
            Tasks are kept in a journal. They are transferred while a program has the session open: "run", "agent", or a program \
            that uses LinnetBackground with the same session. All other commands only read and change the journal.

            EXAMPLES:
              \(program) add https://example.com/linnet.iso --to ~/isos
              \(program) run --until-empty                  transfers all tasks, for cron and containers
              \(program) agent                              transfers while no other program does
              \(program) watch                              progress, until nothing is left
              \(program) limit 2M                           2,000,000 bytes a second, at once
              \(program) limit 500k 3                       500,000 bytes a second for task 3

            Exit codes: 0 success; 1 a task failed, or the journal cannot be used; 2 there is no such task; 64 usage error.
            """,
        version: ToolVersion.text,
        subcommands: [
            AddCommand.self, ListCommand.self, WatchCommand.self, PauseCommand.self, ResumeCommand.self,
            CancelCommand.self, RetryCommand.self, RemoveCommand.self, LimitCommand.self, RunCommand.self,
            AgentCommand.self,
        ])

    package init() {}
}
