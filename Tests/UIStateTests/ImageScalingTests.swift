import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetUIState
import Synchronization
import Testing

/// Records the requests to decode: `a` for a whole picture, `a@8` for one that fits 8 pixels.
private final class ScalingPictureSerializer: ScalingImageSerializer {
    let decoded = Mutex<[String]>([])
    /// Called in the first decoding, before it returns.
    let duringFirst = Mutex<(@Sendable () -> Void)?>(nil)

    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Picture {
        try noting(response) { $0 }
    }

    func serialize(_ response: SerializedResponse, toFit limit: Int) throws(SerializationError) -> Picture {
        try noting(response) { "\($0)@\(limit)" }
    }

    private func noting(
        _ response: SerializedResponse, _ name: (String) -> String
    ) throws(SerializationError) -> Picture {
        let picture = try PictureSerializer().serialize(response)
        decoded.withLock { $0.append(name(picture.name)) }
        duringFirst.withLock { $0.take() }?()
        return Picture(name: name(picture.name))
    }
}

extension ImageProcessor where Image == Picture {
    fileprivate static func fitting(_ limit: Int) -> Self {
        Self("fitting \(limit)", maximumDimension: limit) { Picture(name: $0.name + "+\(limit)") }
    }
}

@Suite("Images that are scaled by the decoder", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ImageScalingTests {
    private let serializer = ScalingPictureSerializer()

    private func withScalingDownloader(
        _ perform: (ImageDownloader<Picture>, PictureServer) async throws -> Void
    ) async throws {
        let server = PictureServer()
        let session = try HTTPSession(transport: server.transport)
        let downloader = ImageDownloader(session: session, serializer: serializer) {
            $0.imageCache = AutoPurgingImageCache(purgesUnderMemoryPressure: false)
        }
        try await perform(downloader, server)
        server.open()
        await session.shutdown(.immediate)
    }

    /// The names of the pictures for several lists of processors, which are asked for before the download ends.
    private func names(_ processors: [[ImageProcessor<Picture>]]) async throws -> [String] {
        var names: [String] = []
        try await withScalingDownloader { downloader, server in
            let downloads = try processors.map { downloader.download(try ImageRequest(path: "a", processors: $0)) }
            try await server.waitForRequests(1)
            server.answer("a")
            for download in downloads { names.append(try await download.value.image.name) }
            #expect(server.received == ["a"])
        }
        return names
    }

    @Test func theDecoderScalesToTheSizeThatAllVariantsShare() async throws {
        let names = try await names([[.fitting(8)], [.fitting(8), .tagged("round")]])
        #expect(names == ["a@8+8", "a@8+8+round"])
        #expect(serializer.decoded.withLock { $0 } == ["a@8"])
    }

    @Test(arguments: [[[8], [16]], [[8], []], [[nil, 8], [8]], [[nil, 8]], [[]]] as [[[Int?]]])
    func variantsOfDifferentSizesAreMadeOfTheWholeImage(_ limits: [[Int?]]) async throws {
        let names = try await names(limits.map { $0.map { limit in limit.map { .fitting($0) } ?? .tagged("round") } })
        let tags = limits.map { limits in limits.map { limit in "+" + (limit.map { "\($0)" } ?? "round") } }
        #expect(names == tags.map { "a" + $0.joined() })
        #expect(serializer.decoded.withLock { $0 } == ["a"])
    }

    @Test func aReceiptThatIsAddedWhileASmallerImageIsDecodedGetsTheWholeOne() async throws {
        try await withScalingDownloader { downloader, server in
            let requests = try [[.fitting(8)], [], [.fitting(16)]].map { try ImageRequest(path: "a", processors: $0) }
            let late = Mutex<[ImageDownload<Picture>]>([])
            serializer.duringFirst.withLock {
                $0 = { late.withLock { $0 = requests.map { downloader.download($0) } } }
            }
            let first = downloader.download(requests[0])
            try await server.waitForRequests(1)
            server.answer("a")
            #expect(try await first.value.image.name == "a@8+8")
            var names: [String] = []
            for download in late.withLock({ $0 }) { names.append(try await download.value.image.name) }
            #expect(names == ["a@8+8", "a", "a+16"])
            #expect(serializer.decoded.withLock { $0 } == ["a@8", "a"] && server.received == ["a"])
        }
    }

    @Test func anOriginalInTheCacheIsNotDecodedAgain() async throws {
        try await withScalingDownloader { downloader, server in
            server.open()
            _ = try await downloader.image(for: ImageRequest(path: "a"))
            let small = try await downloader.image(for: ImageRequest(path: "a", processors: [.fitting(8)]))
            #expect(small.image.name == "a+8" && small.response == nil)
            #expect(serializer.decoded.withLock { $0 } == ["a"])
        }
    }

    @Test func aSmallerImageIsNotKeptAsTheOriginal() async throws {
        try await withScalingDownloader { downloader, server in
            server.open()
            _ = try await downloader.image(for: ImageRequest(path: "a", processors: [.fitting(8)]))
            await eventually { downloader.activeDownloads == 0 }
            #expect(try await downloader.image(for: ImageRequest(path: "a")).image.name == "a")
            #expect(serializer.decoded.withLock { $0 } == ["a@8", "a"] && server.received == ["a", "a"])
        }
    }
}
