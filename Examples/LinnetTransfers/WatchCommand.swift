import ArgumentParser
import ExampleSupport
import FoundationEssentials
import LinnetBackground
import LinnetSession

/// Follows the tasks until none is waiting or running.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follows the tasks until none is waiting or running: bars in a terminal, else a line for each change."
    )

    /// The time between two pictures of a terminal.
    private static let interval = Duration.milliseconds(250)

    @OptionGroup var options: SessionOptions

    func run() async throws {
        try await options.use(as: .observer) { background in
            let usesBars = StandardStream.output.isTerminal && !options.isJSON
            let hasFailed = usesBars ? try await drawBars(background) : try await printLines(background)
            if hasFailed { throw ExitCode(1) }
        }
    }

    private func printLines(_ background: BackgroundSession) async throws -> Bool {
        let events = background.events
        let printing = Task {
            var failed = false
            for await event in events where event.kind == .changed || event.kind == .adopted {
                guard let task = event.task else { continue }
                failed = failed || (event.kind == .changed && task.state == .failed)
                try? options.show(task)
            }
            return failed
        }
        try await background.drained()
        await background.shutdown()
        return await printing.value
    }

    private func drawBars(_ background: BackgroundSession) async throws -> Bool {
        var bars = ProgressBars()
        let before = Set(try await background.tasks.filter(\.state.isEnd).map(\.id))
        while true {
            let tasks = try await background.tasks.filter { !before.contains($0.id) }
            try StandardStream.output.write(bars.draw(tasks, at: .now))
            guard tasks.contains(where: { $0.state == .waiting || $0.state == .running }) else {
                return tasks.contains { $0.state == .failed }
            }
            try await Task.sleep(for: Self.interval)
        }
    }
}

/// The picture of the tasks in a terminal.
struct ProgressBars {
    private static let width = 20
    /// The share of the last interval in the shown speed.
    private static let smoothing = 0.25

    private var lines = 0
    private var last: (bytes: [BackgroundTask.ID: Int64], time: ContinuousClock.Instant)?
    private var speeds: [BackgroundTask.ID: Double] = [:]

    /// Returns the text that replaces the last picture.
    mutating func draw(_ tasks: [BackgroundTask], at now: ContinuousClock.Instant) -> String {
        measure(tasks, at: now)
        let shown = tasks.filter { $0.state == .running } + tasks.filter { $0.state == .failed }.suffix(3)
        var picture = shown.prefix(20).map(line)
        let ended = tasks.count { $0.state == .completed }
        let speed = tasks.filter { $0.state == .running }.reduce(0) { $0 + (speeds[$1.id] ?? 0) }
        picture.append("\(ended) of \(tasks.count) completed, \(ByteCount.text(Int64(speed)))/s")
        let up = lines > 0 ? "\u{1B}[\(lines)A" : ""
        lines = picture.count
        return up + "\u{1B}[J" + picture.map { $0 + "\n" }.joined()
    }

    private mutating func measure(_ tasks: [BackgroundTask], at now: ContinuousClock.Instant) {
        let bytes = Dictionary(uniqueKeysWithValues: tasks.map { ($0.id, $0.progress.completed) })
        defer { last = (bytes, now) }
        guard let last, now > last.time else { return }
        let seconds = (now - last.time) / .seconds(1)
        for task in tasks {
            guard let earlier = last.bytes[task.id] else { continue }
            let speed = Double(max(0, task.progress.completed - earlier)) / seconds
            speeds[task.id] = speeds[task.id].map { $0 + (speed - $0) * Self.smoothing } ?? speed
        }
    }

    private func line(_ task: BackgroundTask) -> String {
        let name = OneLine.text(String(task.file.lastPathComponent.prefix(30)))
        if task.state == .failed { return OneLine.text("\(task.id) \(name): \(task.error?.message ?? "failed")") }
        let fraction = task.progress.fraction
        var facts = [ByteCount.text(task.progress.completed)]
        if let fraction { facts.insert("\(Int(fraction * 100)) %", at: 0) }
        if let speed = speeds[task.id], speed > 0 {
            facts.append("\(ByteCount.text(Int64(speed)))/s")
            if let total = task.progress.total {
                facts.append("\(Int(Double(max(0, total - task.progress.completed)) / speed)) s left")
            }
        }
        return "\(task.id) \(name) \(TextBar.text(fraction ?? 0, width: Self.width)) \(facts.joined(separator: ", "))"
    }
}
