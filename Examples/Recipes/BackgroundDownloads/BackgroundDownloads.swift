import ArgumentParser
import FoundationEssentials
import Linnet
import LinnetBackground

/// Downloads files in the background. A run that is interrupted, even by SIGKILL, leaves its tasks to the next one.
@main
struct BackgroundDownloads: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-background-downloads")

    @Option(help: "The folder for the journal.")
    var journal: String

    @Option(help: "The folder for the files.")
    var to = "."

    @Argument(help: "The URLs.")
    var urls: [String] = []

    func run() async throws {
        let background = try await BackgroundSession("recipe", directory: URL(filePath: journal)) {
            $0.maximumActive = 2
        }
        let events = background.events
        for url in urls {
            let name = URL(string: url)?.lastPathComponent ?? "file"
            try await background.download(background.session.get(url), to: URL(filePath: to).appending(path: name))
        }
        // The tasks of earlier runs come first.
        let printing = Task {
            for await event in events {
                guard let task = event.task, event.kind != .progressed else { continue }
                print(task.id, event.kind, task.state.rawValue, task.file.lastPathComponent, task.error?.message ?? "")
            }
        }
        try await background.drained()
        await background.shutdown()
        await printing.value
    }
}
