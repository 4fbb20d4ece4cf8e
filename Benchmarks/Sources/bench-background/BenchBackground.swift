import BenchSupport
import FoundationEssentials
import LinnetBackground

/// Linnet, through a background session: the journal, the part and the file are synchronized to the disk.
@main
struct BenchBackground {
    static func main() {
        runBenchmark { try await run($0) }
    }

    private static func run(_ arguments: Arguments) async throws -> Outcome {
        let file = URL(filePath: try arguments.required("file"))
        let folder = URL(filePath: file.path + ".session")
        defer { for url in [file, folder] { try? FileManager.default.removeItem(at: url) } }
        return switch arguments.operation {
        case "background-files": try await downloadFiles(arguments, to: file, folder)
        case "background-writes": try await Writes.run(arguments, to: file)
        case "background-accept": try await accept(arguments, folder)
        case "background-open": try await open(arguments, folder)
        default: try await download(arguments, to: file, folder)
        }
    }

    /// One file.
    private static func download(_ arguments: Arguments, to file: URL, _ folder: URL) async throws -> Outcome {
        let background = try await BackgroundSession("bench", directory: folder)
        let outcome = try await measureThroughput(arguments) {
            // The session is open.
        } _: {
            let call = background.session.get(arguments.url)
            let task = try await background.download(call, to: file) {
                $0.segments = arguments.number("segments", 1)
            }
            let ended = try await background.ended(task.id)
            try check(status: ended.status?.code ?? 0, Int(ended.progress.completed), of: arguments.bytes)
        }
        await background.shutdown()
        return outcome
    }

    /// Many files, whose names are numbers, from the first addition until the last one has ended.
    private static func downloadFiles(_ arguments: Arguments, to files: URL, _ folder: URL) async throws -> Outcome {
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let background = try await BackgroundSession("bench", directory: folder) {
            $0.maximumActive = arguments.concurrency
            $0.maximumActivePerHost = arguments.concurrency
        }
        let count = arguments.number("files", 10_000)
        let begin = now()
        try await add(0..<count, batch: 100) { number in
            try await background.download(
                background.session.get("\(arguments.url)/\(number)"), to: files.appending(path: "\(number)"))
        }
        try await background.drained()
        let seconds = now() - begin
        for task in try await background.tasks {
            try check(status: task.status?.code ?? 0, Int(task.progress.completed), of: arguments.bytes)
        }
        await background.shutdown()
        return Outcome(Double(count) / seconds, "files/s", count: count)
    }

    /// The acceptance of tasks, which are on the disk when they are accepted.
    private static func accept(_ arguments: Arguments, _ folder: URL) async throws -> Outcome {
        let background = try await BackgroundSession("bench", directory: folder)
        let count = arguments.number("tasks", 10_000)
        let begin = now()
        try await addWaiting(0..<count, to: background, batch: arguments.number("batch", 100), folder)
        let seconds = now() - begin
        await background.shutdown()
        return Outcome(Double(count) / seconds, "tasks/s", count: count)
    }

    /// The time in which a session opens that has tasks already, in milliseconds.
    private static func open(_ arguments: Arguments, _ folder: URL) async throws -> Outcome {
        let count = arguments.number("tasks", 100_000)
        let filling = try await BackgroundSession("bench", directory: folder) { $0.role = .observer }
        try await addWaiting(0..<count, to: filling, batch: 1000, folder)
        await filling.shutdown()
        let begin = now()
        let background = try await BackgroundSession("bench", directory: folder)
        guard await background.isRunner else { throw Failure("the session does not transfer") }
        let seconds = now() - begin
        await background.shutdown()
        return Outcome(seconds * 1000, "ms", count: 1)
    }

    private static func addWaiting(
        _ numbers: Range<Int>, to background: BackgroundSession, batch: Int, _ folder: URL
    ) async throws {
        try await add(numbers, batch: batch) { number in
            let call = background.session.get("http://127.0.0.1:9/\(number)")
            try await background.download(call, to: folder.appending(path: "\(number)")) {
                $0.earliestBeginDate = .distantFuture
            }
        }
    }

    /// Adds tasks, a number of them at once.
    private static func add(
        _ numbers: Range<Int>, batch: Int, _ add: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in numbers.prefix(batch) {
                group.addTask {
                    for number in stride(from: first, to: numbers.upperBound, by: batch) { try await add(number) }
                }
            }
            try await group.waitForAll()
        }
    }
}
