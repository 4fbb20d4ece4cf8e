import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetUIState
import Synchronization
import Testing

@Suite("Image downloader", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ImageDownloaderTests {
    @Test func theDefaultsEqualAFNetworkings() throws {
        let configuration = ImageDownloader<Picture>.Configuration()
        #expect(configuration.maximumActiveDownloads == 4)
        #expect(configuration.prioritization == .firstInFirstOut)
        #expect(configuration.imageCache?.memoryCapacity == 100 << 20)
        #expect(configuration.maximumActiveDecodings >= 1)
    }

    @Test func anImageIsDownloadedAndThenTakenFromTheCache() async throws {
        let server = PictureServer(isOpen: true)
        try await withDownloader(of: server) { downloader in
            let request = try ImageRequest<Picture>(path: "a")
            let first = try await downloader.image(for: request)
            #expect(first.image.name == "a" && first.response?.status == .ok)
            let second = try await downloader.image(for: request)
            #expect(second.image.name == "a" && second.response == nil)
            #expect(downloader.download(request).result != nil, "A hit is there when the call returns.")
            #expect(server.received == ["a"])
        }
    }

    @Test func acceptIsAddedAndHeaderFieldsAreSent() async throws {
        let transport = StubTransport { _ in PictureServer.body("a") }
        let session = try HTTPSession(transport: transport)
        let downloader = ImageDownloader(session: session, serializer: .picture) { $0.imageCache = nil }
        var request = try ImageRequest<Picture>(path: "a")
        request.headerFields[.authorization] = "Bearer x"
        _ = try await downloader.image(for: request)
        request.headerFields[.accept] = "image/webp"
        _ = try await downloader.image(for: request)
        #expect(transport.requests.map { $0.head.headerFields[.accept] } == ["image/*", "image/webp"])
        #expect(transport.requests.map { $0.head.headerFields[.authorization] } == ["Bearer x", "Bearer x"])
        await session.shutdown(.immediate)
    }

    @Test func equalRequestsShareADownload() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let downloads = try (0..<5).map { _ in downloader.download(try ImageRequest(path: "a")) }
            try await server.waitForRequests(1)
            server.answer("a")
            for download in downloads { #expect(try await download.value.image.name == "a") }
            #expect(server.received == ["a"])
            #expect(Set(downloads.map(\.id)).count == 5)
        }
    }

    @Test func variantsOfAnImageShareItsDownload() async throws {
        let server = PictureServer()
        let processed = Mutex(0)
        try await withDownloader(of: server) { downloader in
            let counting = ImageProcessor<Picture>("counted") { picture in
                processed.withLock { $0 += 1 }
                return Picture(name: picture.name + "+counted")
            }
            let original = downloader.download(try ImageRequest(path: "a"))
            let variants = try (0..<3).map { _ in
                downloader.download(try ImageRequest(path: "a", processors: [counting, .tagged("round")]))
            }
            try await server.waitForRequests(1)
            server.answer("a")
            #expect(try await original.value.image.name == "a")
            for variant in variants { #expect(try await variant.value.image.name == "a+counted+round") }
            #expect(server.received == ["a"] && processed.withLock { $0 } == 1)
            // Each is kept by its identifiers; a new variant is made of the original in the cache.
            #expect(downloader.imageCache?.count == 2)
            let late = try await downloader.image(for: ImageRequest(path: "a", processors: [.tagged("late")]))
            #expect(late.image.name == "a+late" && late.response == nil && server.received == ["a"])
        }
    }

    @Test func aProcessorThatThrowsFailsItsVariantOnly() async throws {
        struct Refusal: Error {}
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let refusing = ImageProcessor<Picture>("refusing") { _ in throw Refusal() }
            let failing = downloader.download(try ImageRequest(path: "a", processors: [refusing]))
            let original = downloader.download(try ImageRequest(path: "a"))
            try await server.waitForRequests(1)
            server.answer("a")
            let error = await #expect(throws: SessionError.self) { try await failing.value }
            #expect(error?.code == .decodingFailed && error?.underlying is Refusal)
            #expect(error?.message.contains("refusing") == true)
            #expect(try await original.value.image.name == "a")
        }
    }

    @Test func failuresMakeRoomForTheNext() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let failing = try (0..<12).map { downloader.download(try ImageRequest(path: "bad\($0)")) }
            let last = downloader.download(try ImageRequest(path: "good"))
            for (index, download) in failing.enumerated() {
                // Four are active, and arrive in any order.
                try await server.waitForRequests(min(index + 4, failing.count + 1))
                if index % 2 == 0 {
                    server.fail("bad\(index)")
                } else {
                    server.answer("bad\(index)", with: .status(.ok))
                }
                let error = await #expect(throws: SessionError.self) { try await download.value }
                #expect(error?.code == (index % 2 == 0 ? .unacceptableStatus : .decodingFailed))
                #expect(error?.url?.path == "/bad\(index)")
            }
            server.answer("good")
            #expect(try await last.value.image.name == "good")
            #expect(downloader.activeDownloads == 0 && downloader.waitingDownloads == 0)
            #expect(server.mostActive == 4)
            #expect(downloader.imageCache?.count == 1, "What failed is not cached.")
        }
    }

    @Test func cancellingAReceiptDoesNotAffectOthers() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let first = downloader.download(try ImageRequest(path: "a"))
            let second = downloader.download(try ImageRequest(path: "a"))
            try await server.waitForRequests(1)
            first.cancel()
            let error = await #expect(throws: SessionError.self) { try await first.value }
            #expect(error?.code == .cancelled)
            server.answer("a")
            #expect(try await second.value.image.name == "a")
        }
    }

    @Test func cancellingTheLastReceiptStopsTheDownload() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let downloads = try (0..<2).map { _ in downloader.download(try ImageRequest(path: "a")) }
            try await server.waitForRequests(1)
            for download in downloads { download.cancel() }
            await eventually { server.active == 0 }
            await eventually { downloader.activeDownloads == 0 }
            #expect(downloader.imageCache?.count == 0)
            // AFNetworking's tests: cancelled images can be requested again.
            let again = downloader.download(try ImageRequest(path: "a"))
            try await server.waitForRequests(2)
            server.answer("a")
            #expect(try await again.value.image.name == "a")
        }
    }

    @Test func fiveCancelledDownloadsLoadAgain() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let requests = try (0..<5).map { try ImageRequest<Picture>(path: "\($0)") }
            for download in requests.map({ downloader.download($0) }) { download.cancel() }
            let again = requests.map { downloader.download($0) }
            server.open()
            for (index, download) in again.enumerated() {
                #expect(try await download.value.image.name == "\(index)")
            }
            #expect(server.mostActive <= 4)
        }
    }

    @Test func cancellingTheCallersTaskCancelsItsRequest() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let request = try ImageRequest<Picture>(path: "a")
            let caller = Task { try await downloader.image(for: request) }
            try await server.waitForRequests(1)
            caller.cancel()
            let error = await #expect(throws: SessionError.self) { try await caller.value }
            #expect(error?.code == .cancelled)
            await eventually { server.active == 0 }
        }
    }

    @Test func cancellingAWaitDoesNotCancelTheReceipt() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let download = downloader.download(try ImageRequest(path: "a"))
            let waiter = Task { try await download.value }
            try await server.waitForRequests(1)
            waiter.cancel()
            let error = await #expect(throws: SessionError.self) { try await waiter.value }
            #expect(error?.code == .cancelled)
            server.answer("a")
            #expect(try await download.value.image.name == "a")
        }
    }

    @Test func theOrderFollowsThePrioritization() async throws {
        for (prioritization, expected) in [
            (ImageDownloadPrioritization.firstInFirstOut, ["0", "3", "1", "4", "2"]),
            (.lastInFirstOut, ["0", "3", "4", "1", "2"]),
        ] {
            let server = PictureServer()
            try await withDownloader(
                of: server,
                {
                    $0.prioritization = prioritization
                    $0.maximumActiveDownloads = 1
                }
            ) { downloader in
                let downloads = try (0..<5).map { downloader.download(try ImageRequest(path: "\($0)")) }
                downloads[3].priority = .high
                downloads[2].priority = .low
                for (index, path) in expected.enumerated() {
                    try await server.waitForRequests(index + 1)
                    server.answer(path)
                }
                for download in downloads { _ = try await download.value }
                #expect(server.received == expected)
            }
        }
    }

    @Test func prefetchedImagesWaitForOthersAndAreCached() async throws {
        let server = PictureServer()
        try await withDownloader(of: server, { $0.maximumActiveDownloads = 1 }) { downloader in
            let first = downloader.download(try ImageRequest(path: "first"))
            let prefetched = downloader.prefetch(try ["p0", "p1"].map { try ImageRequest(path: $0) })
            let urgent = downloader.download(try ImageRequest(path: "urgent"))
            let shared = downloader.download(try ImageRequest(path: "p1"))
            server.open()
            for download in [first, urgent, shared] + prefetched { _ = try await download.value }
            #expect(server.received == ["first", "p1", "urgent", "p0"])
            #expect(downloader.download(try ImageRequest(path: "p0")).result != nil)
        }
    }

    @Test(arguments: [
        (RequestOptions.CachePolicy.protocolDefined, 1), (.cacheElseLoad, 1), (.cacheOnly, 1),
        (.reloadIgnoringCache, 2), (.reloadIgnoringAllCaches, 2), (.revalidate, 2),
    ])
    func theCachePolicyDecidesAboutTheImageCache(_ policy: RequestOptions.CachePolicy, _ requests: Int) async throws {
        let server = PictureServer(isOpen: true)
        try await withDownloader(of: server) { downloader in
            var request = try ImageRequest<Picture>(path: "a")
            _ = try await downloader.image(for: request)
            request.options.cachePolicy = policy
            _ = try await downloader.image(for: request)
            #expect(server.received.count == requests)
        }
    }

    @Test func aFilterKeepsImagesOutOfTheCache() async throws {
        let server = PictureServer(isOpen: true)
        try await withDownloader(of: server, { $0.shouldCache = { picture, _ in picture.name != "secret" } }) {
            downloader in
            for path in ["secret", "secret", "known", "known"] {
                _ = try await downloader.image(for: ImageRequest(path: path))
            }
            #expect(server.received == ["secret", "secret", "known"])
        }
    }

    @Test func decodingIsLimitedAndOffTheMainThread() async throws {
        struct Meter: ResponseSerializer {
            let state = Shared()
            final class Shared: Sendable {
                let counts = Mutex((now: 0, most: 0, main: false))
            }
            func serialize(_ response: SerializedResponse) throws(SerializationError) -> Picture {
                state.counts.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                    $0.main = $0.main || isMainThread()
                }
                defer { state.counts.withLock { $0.now -= 1 } }
                return Picture(name: String(decoding: response.body, as: UTF8.self))
            }
        }
        let server = PictureServer(isOpen: true)
        let session = try HTTPSession(transport: server.transport)
        let meter = Meter()
        let downloader = ImageDownloader(session: session, serializer: meter) {
            $0.maximumActiveDecodings = 2
            $0.maximumActiveDownloads = 8
        }
        let downloads = try await MainActor.run {
            try (0..<200).map { downloader.download(try ImageRequest(path: "\($0)")) }
        }
        for download in downloads { _ = try await download.value }
        let counts = meter.state.counts.withLock { $0 }
        #expect((1...2).contains(counts.most) && !counts.main)
        await session.shutdown(.immediate)
    }

    @Test func aShutDownSessionFailsItsImages() async throws {
        let server = PictureServer()
        let session = try HTTPSession(transport: server.transport)
        let downloader = ImageDownloader(session: session, serializer: .picture)
        await session.shutdown(.immediate)
        let error = await #expect(throws: SessionError.self) {
            try await downloader.image(for: ImageRequest(path: "a"))
        }
        #expect(error?.code == .shutDown)
        #expect(downloader.activeDownloads == 0)
    }

    @Test func eventsEndWithTheCompletion() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(
            transport: StubTransport { _ in .stream(body, headerFields: [.contentLength: "8"]) })
        let downloader = ImageDownloader(session: session, serializer: .picture)
        let download = downloader.download(try ImageRequest(path: "a"))
        let events = download.events
        body.send("abcdefgh")
        body.finish()
        var seen: [ImageDownload<Picture>.Event] = []
        for await event in events { seen.append(event) }
        guard case .completed(.success(let response)) = seen.last else { throw Missing() }
        #expect(response.image.name == "abcdefgh")
        var late: [ImageDownload<Picture>.Event] = []
        for await event in download.events { late.append(event) }
        guard case .completed(.success) = late.last else { throw Missing() }
        await session.shutdown(.immediate)
    }

    @Test func previewsAreDecodedWhileTheBodyArrives() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let downloader = ImageDownloader(session: session, serializer: .picture) {
            $0.previewDecoder = { Picture(name: "preview of \($0.body.count)") }
            $0.imageCache = AutoPurgingImageCache(purgesUnderMemoryPressure: false)
        }
        let download = downloader.download(try ImageRequest(path: "a"))
        let events = download.events
        body.send(Data(repeating: 65, count: 5000))
        var previews: [String] = []
        for await event in events {
            guard case .preview(let picture) = event else { continue }
            previews.append(picture.name)
            body.finish()
        }
        #expect(previews == ["preview of 5000"])
        #expect(try await download.value.image.name.utf8.count == 5000)
        #expect(try await downloader.image(for: ImageRequest(path: "a")).response == nil, "The image is cached, whole.")
        await session.shutdown(.immediate)
    }

    @Test func anImageBeyondTheSessionsLimitFailsWithPreviewsToo() async throws {
        let session = try HTTPSession(
            configuration: {
                var configuration = HTTPSession.Configuration()
                configuration.maximumBodySize = 10
                return configuration
            }(), transport: StubTransport { _ in PictureServer.body("more than ten bytes") })
        for hasPreviews in [false, true] {
            let downloader = ImageDownloader(session: session, serializer: .picture) {
                if hasPreviews { $0.previewDecoder = { _ in nil } }
            }
            let error = await #expect(throws: SessionError.self) {
                try await downloader.image(for: ImageRequest(path: "a"))
            }
            #expect(error?.code == .bodyTooLarge)
        }
        await session.shutdown(.immediate)
    }
}

struct Missing: Error {}
