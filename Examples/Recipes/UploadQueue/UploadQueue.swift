import ArgumentParser
import FoundationEssentials
import Linnet
import LinnetBackground

/// Uploads files through a queue in a journal. A run that is interrupted leaves the remaining files to the next one.
@main
struct UploadQueue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-upload-queue")

    @Option(help: "The folder for the journal.")
    var journal: String

    @Option(help: "The URL of the folder on the server, with a slash at its end.")
    var to: String

    @Argument(help: "The files.")
    var files: [String] = []

    func run() async throws {
        let server = try HTTPSession(baseURL: URL(string: to))
        let queue = try await BackgroundSession("uploads", directory: URL(filePath: journal)) {
            $0.session = server
            $0.maximumActive = 2
        }
        let events = queue.events
        for file in files {
            let file = URL(filePath: file)
            // An interrupted upload is sent again from its beginning. The key lets the server recognize it.
            let call = server.put(file.lastPathComponent).options { $0.sendsIdempotencyKey = true }
            try await queue.upload(call, fromFile: file)
        }
        let printing = Task {
            for await event in events {
                guard let task = event.task, task.state.isEnd else { continue }
                print(task.state.rawValue, task.file.lastPathComponent, task.error?.message ?? "")
            }
        }
        try await queue.drained()
        await queue.shutdown()
        await printing.value
        await server.shutdown()
    }
}
