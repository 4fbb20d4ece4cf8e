import ArgumentParser
import FoundationEssentials
import Linnet

/// Downloads a file. If it is interrupted, even by SIGKILL, the next run continues where it ended.
@main
struct ResumableDownload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-resumable-download")

    @Argument(help: "The URL.")
    var url: String

    @Argument(help: "The file to write.")
    var file: String

    func run() async throws {
        let destination = URL(filePath: file)
        let resumeFile = URL(filePath: file + ".resume")
        let session = try HTTPSession()
        let options = DownloadOptions {
            $0.resumeFile = resumeFile
            $0.resumeInterval = .milliseconds(100)
        }
        let task = session.get(url).downloadTask(
            to: destination, resuming: try? ResumeData(contentsOf: resumeFile), options: options)
        task.onProgress { progress in
            guard let fraction = progress.download.fraction else { return }
            print("\(Int(fraction * 100)) %")
        }
        let response = try await task.value
        print(response.status == .partialContent ? "continued" : "downloaded", response.value.path)
        await session.shutdown()
    }
}
