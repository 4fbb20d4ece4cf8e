import FoundationEssentials
import LinnetImageSerialization
import LinnetSession
import LinnetTesting
import LinnetUIState
import Testing

@Suite("Bitmaps as images", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct BitmapDownloadTests {
    @Test func aBitmapIsDownloadedScaledAndKept() async throws {
        let pixels = [UInt8](repeating: 200, count: 100 * 50 * 4)
        let picture = try #require(Bitmap(width: 100, height: 50, pixels: pixels)).pngData()
        var response = MockResponse.status(.ok)
        response.headerFields[.contentType] = "image/png"
        response.body = .bytes(picture)
        try await withMockServer(response) { server in
            let session = try HTTPSession()
            let downloader = ImageDownloader(session: session, serializer: .image) {
                $0.imageCache = AutoPurgingImageCache(purgesUnderMemoryPressure: false)
            }
            let small = try await downloader.image(for: ImageRequest(server.url, processors: [.scaled(toFit: 10)]))
            #expect(small.image.width == 10 && small.image.height == 5)
            #expect(downloader.imageCache?.memoryUsage == 10 * 5 * 4, "Only what was asked for is kept.")
            let kept = try await downloader.image(for: ImageRequest(server.url, processors: [.scaled(toFit: 10)]))
            #expect(kept.response == nil && kept.image == small.image)
            await session.shutdown()
        }
    }

    @Test func anInvalidImageIsAnError() async throws {
        var response = MockResponse.text("not a picture")
        response.headerFields[.contentType] = "image/png"
        try await withMockServer(response) { server in
            let session = try HTTPSession()
            let downloader = ImageDownloader(session: session, serializer: .image)
            let error = await #expect(throws: SessionError.self) {
                try await downloader.image(for: ImageRequest(server.url))
            }
            #expect(error?.code == .decodingFailed && error?.head?.status == .ok)
            #expect(downloader.imageCache?.count == 0)
            await session.shutdown()
        }
    }
}
