import ArgumentParser
import FoundationEssentials
import Linnet
import LinnetImageSerialization
import LinnetUIState

/// Shows pictures beside each other in the terminal. Equal URLs are loaded once, at most four at a time.
@main
struct ImageGrid: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-image-grid")
    private static let side = 16

    @Argument(help: "The URLs of the pictures.", transform: ImageGrid.parse)
    var urls: [URL]

    @MainActor
    func run() async throws {
        let session = try HTTPSession()
        let options = ImageDecoder.Options(maximumPixels: 4_000_000, maximumDimension: Self.side)
        let downloader = ImageDownloader(session: session, serializer: ImageResponseSerializer(options: options))
        let cells = urls.map { url in
            let cell = ImageState(downloader)
            cell.load(ImageRequest(url))
            return cell
        }
        for cell in cells {
            for await status in cell.statuses {
                if !status.phase.isLoading { break }
            }
        }
        for row in 0..<Self.side / 2 {
            print(cells.map { Self.line(row, of: $0.image) }.joined(separator: " "))
        }
        await session.shutdown()
    }

    /// One line of a picture, with two pixels in each character; blank where there is none.
    private static func line(_ row: Int, of picture: Bitmap?) -> String {
        (0..<side).map { x in
            guard let picture, x < picture.width, 2 * row + 1 < picture.height else { return " " }
            let places = [2 * row, 2 * row + 1].map { ($0 * picture.width + x) * 4 }
            let colors = places.map { picture.pixels[$0..<$0 + 3].map(String.init).joined(separator: ";") }
            return "\u{1B}[38;2;\(colors[0]);48;2;\(colors[1])m▀\u{1B}[0m"
        }.joined()
    }

    private static func parse(_ text: String) throws -> URL {
        guard let url = URL(string: text), url.host() != nil else { throw ValidationError("\(text) is not a URL.") }
        return url
    }
}
