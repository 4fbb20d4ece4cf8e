import ArgumentParser
import LinnetBackground

/// Prints the tasks.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Prints the tasks.")

    @OptionGroup var options: SessionOptions

    @Flag(name: .customLong("unfinished"), help: "Only tasks that have not ended.")
    var isUnfinished = false

    func run() async throws {
        try await options.use(as: .observer) { background in
            for task in try await background.tasks where !isUnfinished || !task.state.isEnd { try options.show(task) }
        }
    }
}
