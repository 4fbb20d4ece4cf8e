import ArgumentParser
import FoundationEssentials
import Linnet

/// Uploads files as a form, and shows the progress. The files are read while they are sent.
@main
struct FormUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-form-upload")

    @Argument(help: "The URL.")
    var url: String

    @Argument(help: "The files.")
    var files: [String]

    @Option(help: "A text field of the form.")
    var title = "A linnet"

    func run() async throws {
        var form = MultipartForm()
        form.append(title, name: "title")
        for file in files { try form.append(fileAt: URL(filePath: file), name: "file") }

        let session = try HTTPSession()
        let task = session.post(url, form: form).task()
        task.resume()
        for await progress in task.progressUpdates {
            let speed = progress.upload.bytesPerSecond.map { " at \(Int($0 / 1000)) kB/s" } ?? ""
            print("\(Int((progress.upload.fraction ?? 0) * 100)) %\(speed)")
        }
        print(try await task.value.status)
        await session.shutdown()
    }
}
