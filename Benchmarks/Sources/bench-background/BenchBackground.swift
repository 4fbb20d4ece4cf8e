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
}
