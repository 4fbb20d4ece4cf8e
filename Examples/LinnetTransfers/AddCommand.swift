import ArgumentParser
import ExampleSupport
import FoundationEssentials
import LinnetBackground
import LinnetSession

/// Adds downloads.
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds downloads, and prints them. They survive a power failure from then on.")

    enum Priority: String, ExpressibleByArgument, CaseIterable {
        case low, normal, high
    }

    @OptionGroup var options: SessionOptions

    @Argument(help: "The URLs, http or https.")
    var urls: [String]

    @Option(help: ArgumentHelp("The folder for the files.", valueName: "dir"))
    var to = "."

    @Option(help: ArgumentHelp("The file, for one URL. By default the URL has its name.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("The SHA-256 of the file, for one URL.", valueName: "hex"))
    var sha256: String?

    @Option(help: "The priority among the waiting tasks.")
    var priority = Priority.normal

    @Option(help: ArgumentHelp("The largest number of bytes a second of each task.", valueName: "rate"))
    var limit: String?

    @Option(help: "The number of requests that download each file at once, 1 to 16.")
    var segments = 1

    @Option(help: ArgumentHelp("A label for all of them.", valueName: "text"))
    var group: String?

    @Flag(name: .customLong("keep"), help: "Fail instead of replacing an existing file.")
    var keepsFiles = false

    func run() async throws {
        try await options.use(as: .observer) { background in
            guard urls.count == 1 || (output == nil && sha256 == nil) else {
                throw UsageError("--output and --sha256 are for one URL.")
            }
            let rate = try limit.map { text in
                guard let rate = ByteCount.parse(text) else {
                    throw UsageError("\"\(text)\" is not a rate, such as 2M.")
                }
                return rate
            }
            for url in urls {
                let call = background.session.get(url)
                let task = try await background.download(call, to: destination(of: url)) {
                    $0.sha256 = sha256
                    $0.group = group
                    $0.replacesFile = !keepsFiles
                    $0.bytesPerSecond = rate
                    $0.segments = segments
                    $0.priority = [.low: .low, .normal: .normal, .high: .high][priority] ?? .normal
                }
                try options.show(task)
            }
        }
    }

    private func destination(of url: String) throws -> URL {
        if let output { return URL(filePath: output) }
        let name = URL(string: url)?.lastPathComponent ?? ""
        guard !name.isEmpty, name != "/", !name.hasPrefix("."), !name.contains("/") else {
            throw UsageError("The URL \"\(url)\" names no file: specify --output.")
        }
        return URL(filePath: to).appending(path: name, directoryHint: .notDirectory)
    }
}
