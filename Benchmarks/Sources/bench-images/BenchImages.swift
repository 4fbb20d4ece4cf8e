import BenchSupport
import FoundationEssentials
import Linnet
import LinnetImageSerialization
import LinnetUIState

/// Pictures that are downloaded, decoded and scaled down, each once. All of them are kept, as a grid of images does.
///
/// The URLs are those of the given folder, with the numbers from 0 to one less than `pictures`.
@main
struct BenchImages {
    let arguments: Arguments
    let pictures: Int
    let side: Int
    let downloader: ImageDownloader<Bitmap>

    static func main() {
        runBenchmark { arguments in try await BenchImages(arguments).run() }
    }

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        pictures = arguments.number("pictures", 200)
        side = arguments.number("side", 128)
        downloader = try ImageDownloader(session: HTTPSession(), serializer: .image)
        let (downloads, decodings) = (arguments.concurrency, arguments.number("threads", 1))
        // The peer uses as many.
        let configuration = downloader.configuration
        guard configuration.maximumActiveDownloads == downloads, configuration.maximumActiveDecodings == decodings
        else { throw Failure("the defaults are not \(downloads) downloads and \(decodings) decodings at a time") }
    }

    func run() async throws -> Outcome {
        guard arguments.operation == "images" else { throw Failure("no operation \(arguments.operation)") }
        // Loads the libraries, and opens a connection.
        try await check(downloader.image(for: request(arguments.url + "first")))
        ProcessStatus.resetPeak()
        let idle = ProcessStatus.kibibytes("VmRSS")
        let begin = now()
        let downloads = try (0..<pictures).map { try downloader.download(request(arguments.url + "\($0)")) }
        for download in downloads { try await check(download.value) }
        let rate = Double(pictures) / (now() - begin)
        let peak = max(0, ProcessStatus.kibibytes("VmHWM") - idle)
        return Outcome(rate, "images/s", count: pictures, peak: peak)
    }

    private func request(_ address: String) throws -> ImageRequest<Bitmap> {
        guard let url = URL(string: address) else { throw Failure("\(address) is not a valid URL") }
        return ImageRequest(url, processors: [.scaled(toFit: side)])
    }

    private func check(_ response: ImageResponse<Bitmap>) throws {
        guard let download = response.response, download.status.code == 200 else {
            throw Failure("a picture was not downloaded")
        }
        guard max(response.image.width, response.image.height) == side else {
            throw Failure("a picture has \(response.image.width) x \(response.image.height) pixels")
        }
    }
}
