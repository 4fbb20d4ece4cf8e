import ArgumentParser
import LinnetBackground
import LinnetSession

/// The options of the commands that transfer.
struct TransferSettings: ParsableArguments {
    @Option(help: "The number of tasks that are transferred at once.")
    var active = 4

    @Flag(help: "End when no task is waiting or running.")
    var untilEmpty = false

    func apply(to configuration: inout BackgroundSession.Configuration) {
        configuration.maximumActive = active
        configuration.maximumActivePerHost = active
    }
}

/// Transfers the tasks.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract:
            "Transfers the tasks, and prints each change. With --until-empty, the exit code is 1 if a task failed.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var settings: TransferSettings

    func run() async throws {
        try await transfer(as: .program, options, settings)
    }
}

/// Transfers the tasks while no other program does.
struct AgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Transfers the tasks while no other program does, and gives them to a program that opens the session."
    )

    @OptionGroup var options: SessionOptions
    @OptionGroup var settings: TransferSettings

    func run() async throws {
        try await transfer(as: .agent, options, settings)
    }
}

private func transfer(
    as role: BackgroundSession.Configuration.Role, _ options: SessionOptions, _ settings: TransferSettings
) async throws {
    try await options.use(as: role, { settings.apply(to: &$0) }) { background in
        let events = background.events
        let printing = Task {
            var failed = false
            for await event in events {
                guard let task = event.task, event.kind == .changed else { continue }
                failed = failed || task.state == .failed
                try? options.show(task)
            }
            return failed
        }
        if settings.untilEmpty {
            try await background.drained()
            await background.shutdown()
        }
        if await printing.value { throw ExitCode(1) }
    }
}
