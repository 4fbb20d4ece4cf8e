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

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses tasks, which keep their parts.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func run() async throws {
        try await options.use(as: .observer) { background in
            try await selection.forEach(in: background) { try options.show(try await background.pause($0)) }
        }
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Lets paused tasks go on.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func run() async throws {
        try await options.use(as: .observer) { background in
            try await selection.forEach(in: background) { try options.show(try await background.resume($0)) }
        }
    }
}

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancels unfinished tasks, and removes their parts.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func run() async throws {
        try await options.use(as: .observer) { background in
            try await selection.forEach(in: background) { try options.show(try await background.cancel($0)) }
        }
    }
}

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Begins failed and cancelled tasks again; with --all, the failed ones.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func run() async throws {
        try await options.use(as: .observer) { background in
            try await selection.forEach(in: background) { id in
                if selection.isAll, try await background.task(id)?.state != .failed { return }
                try options.show(try await background.retry(id))
            }
        }
    }
}

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes ended tasks from the journal. Completed files stay.")

    @OptionGroup var options: SessionOptions
    @OptionGroup var selection: TaskSelection

    func run() async throws {
        try await options.use(as: .observer) { background in
            try await selection.forEach(in: background) { try await background.remove($0) }
        }
    }
}

struct LimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Limits the bytes a second of all tasks together, or prints the limit.")

    @OptionGroup var options: SessionOptions

    @Argument(help: ArgumentHelp("A number of bytes, such as 500k or 2M, or \"off\".", valueName: "rate"))
    var rate: String?

    func run() async throws {
        try await options.use(as: .observer) { background in
            if let rate {
                let limit = rate == "off" ? nil : ByteCount.parse(rate)
                guard limit != nil || rate == "off" else {
                    throw UsageError("\"\(rate)\" is not a rate, such as 500k, 2M or off.")
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
