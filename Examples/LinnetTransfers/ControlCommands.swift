import ArgumentParser
import ExampleSupport
import LinnetBackground

/// The tasks that a command is about.
struct TaskSelection: ParsableArguments {
    @Argument(help: "The numbers of the tasks.")
    var ids: [String] = []

    @Flag(name: .customLong("all"), help: "All tasks.")
    var isAll = false

    /// Calls a function for each task.
    func forEach(
        in background: BackgroundSession, _ perform: (BackgroundTask.ID) async throws -> Void
    ) async throws {
        guard isAll == ids.isEmpty else { throw UsageError("Specify the numbers of tasks, or --all.") }
        let all = try await background.tasks.map(\.id)
        let chosen = try ids.map { text in
            guard let id = BackgroundTask.ID(text) else { throw UsageError("\"\(text)\" is not the number of a task.") }
            guard all.contains(id) else { throw BackgroundError(.noSuchTask, "There is no task \(id).") }
            return id
        }
        for id in isAll ? all : chosen { try await perform(id) }
    }
}

/// A command that does one thing to each of the chosen tasks.
protocol ControlCommand: AsyncParsableCommand {
    var options: SessionOptions { get }
    var selection: TaskSelection { get }

    func perform(on id: BackgroundTask.ID, in background: BackgroundSession) async throws
}

extension ControlCommand {
    func run() async throws {
        try await options.use(as: .observer) { background in
            try await selection.forEach(in: background) { try await perform(on: $0, in: background) }
        }
    }
}

struct PauseCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses tasks, which keep their parts.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func perform(on id: BackgroundTask.ID, in background: BackgroundSession) async throws {
        try options.show(try await background.pause(id))
    }
}

struct ResumeCommand: ControlCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Lets paused tasks go on.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func perform(on id: BackgroundTask.ID, in background: BackgroundSession) async throws {
        try options.show(try await background.resume(id))
    }
}

struct CancelCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancels unfinished tasks, and removes their parts.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func perform(on id: BackgroundTask.ID, in background: BackgroundSession) async throws {
        try options.show(try await background.cancel(id))
    }
}

struct RetryCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Begins failed and cancelled tasks again; with --all, the failed ones.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func perform(on id: BackgroundTask.ID, in background: BackgroundSession) async throws {
        if selection.isAll, try await background.task(id)?.state != .failed { return }
        try options.show(try await background.retry(id))
    }
}

struct RemoveCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes ended tasks from the journal. Completed files stay.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func perform(on id: BackgroundTask.ID, in background: BackgroundSession) async throws {
        try await background.remove(id)
    }
}

struct LimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Limits the bytes a second of all tasks together, or of each given task; without a rate, prints it.")

    @OptionGroup var options: SessionOptions

    @Argument(help: ArgumentHelp("A number of bytes, such as 500k or 2M, or \"off\".", valueName: "rate"))
    var rate: String?

    @OptionGroup var selection: TaskSelection

    func run() async throws {
        try await options.use(as: .observer) { background in
            if let rate {
                let limit = rate == "off" ? nil : ByteCount.parse(rate)
                guard limit != nil || rate == "off" else {
                    throw UsageError("\"\(rate)\" is not a rate, such as 500k, 2M or off.")
                }
                if selection.isAll || !selection.ids.isEmpty {
                    return try await selection.forEach(in: background) { id in
                        try options.show(try await background.limitBandwidth(of: id, to: limit))
                    }
                }
                try await background.limitBandwidth(to: limit)
            }
            let limit = try await background.bandwidthLimit
            let text =
                options.isJSON
                ? "{\"bytesPerSecond\":\(limit.map { "\($0)" } ?? "null")}"
                : limit.map { "\(ByteCount.text($0)) a second" } ?? "off"
            try StandardStream.output.write(text + "\n")
        }
    }
}
