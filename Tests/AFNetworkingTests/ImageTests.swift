import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetImageSerialization
import LinnetTesting
import Synchronization
import Testing

/// A PNG of one pixel.
private let pixel =
    Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    ?? Data()

private func makeImage(_ bytes: Int = 4) -> UIImage { UIImage(data: Data(count: bytes), decoded: nil) }

private func makeDownloader(
    _ transport: StubTransport, cache: (any AFImageRequestCache)? = AFAutoPurgingImageCache(), limit: Int = 4
) -> AFImageDownloader {
    let manager = makeManager("http://example.com/", transport)
    manager.responseSerializer = AFImageResponseSerializer { try ImageDecoder().decode($0) }
    return AFImageDownloader(
        sessionManager: manager, downloadPrioritization: .fifo, maximumActiveDownloads: limit, imageCache: cache)
}

private func makeRequest(_ path: String = "a.png") throws -> URLRequest {
    URLRequest(url: try #require(URL(string: "http://example.com/" + path)))
}

private let png = StubTransport.Response.status(200, headerFields: [.contentType: "image/png"], body: pixel)

@Suite(.timeLimit(.minutes(5)))
struct ImageResponseSerializerTests {
    private func read(_ serializer: AFImageResponseSerializer, _ data: Data, type: String = "image/png") throws -> (
        image: UIImage?, code: Int?
    ) {
        let url = try #require(URL(string: "http://example.com/"))
        let response = HTTPURLResponse(
            url: url, statusCode: 200, httpVersion: nil, headerFields: ["Content-Type": type])
        var error: NSError?
        let image = serializer.responseObject(for: response, data: data, error: &error) as? UIImage
        return (image, error?.code)
    }

    @Test func anImageIsTheDataWithoutADecoder() throws {
        let serializer = AFImageResponseSerializer()
        serializer.imageScale = 2
        let outcome = try read(serializer, pixel)
        #expect(outcome.image?.data == pixel && outcome.image?.decoded == nil && outcome.image?.scale == 2)
        #expect(outcome.code == nil)
        #expect(try read(serializer, pixel, type: "text/html").code == NSURLErrorCannotDecodeContentData)
        #expect(try read(serializer, Data()).image == nil)
    }

    @Test func aDecoderMakesTheImageUnlessItIsNotInflated() throws {
        let serializer = AFImageResponseSerializer { try ImageDecoder().decode($0) }
        let image = try #require(try read(serializer, pixel).image)
        #expect(image.decoded(as: Bitmap.self)?.width == 1 && image.data == nil && image.byteCount == 4)
        serializer.automaticallyInflatesResponseImage = false
        #expect(try read(serializer, pixel).image?.decoded == nil)
    }

    @Test func anImageThatCannotBeDecodedIsAnError() throws {
        let failing = AFImageResponseSerializer { try ImageDecoder().decode($0) }
        #expect(try read(failing, Data("no image".utf8)).code == NSURLErrorCannotDecodeContentData)
        let empty = AFImageResponseSerializer { _ in nil }
        #expect(try read(empty, pixel).code == NSURLErrorCannotDecodeContentData)
        let copy = try #require(empty.copy() as? AFImageResponseSerializer)
        #expect(copy.decoder != nil)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct AutoPurgingImageCacheTests {
    private let cache = AFAutoPurgingImageCache(memoryCapacity: 100, preferredMemoryCapacity: 60)

    @Test func theDefaultsAreAFNetworkings() {
        let usual = AFAutoPurgingImageCache()
        #expect(usual.memoryCapacity == 100 << 20 && usual.preferredMemoryUsageAfterPurge == 60 << 20)
        #expect(usual.memoryUsage == 0)
    }

    @Test func imagesAreFoundByIdentifier() {
        let image = makeImage()
        cache.add(image, withIdentifier: "a")
        #expect(cache.image(withIdentifier: "a") === image && cache.image(withIdentifier: "b") == nil)
        let other = makeImage()
        cache.add(other, withIdentifier: "a")
        #expect(cache.image(withIdentifier: "a") === other && cache.memoryUsage == 4)
        #expect(cache.removeImage(withIdentifier: "a") && !cache.removeImage(withIdentifier: "a"))
        cache.add(image, withIdentifier: "a")
        #expect(cache.removeAllImages() && !cache.removeAllImages() && cache.memoryUsage == 0)
    }

    @Test func imagesAreFoundByRequestAndAdditionalIdentifier() throws {
        let request = try makeRequest()
        let (plain, round) = (makeImage(), makeImage())
        cache.add(plain, for: request, withAdditionalIdentifier: nil)
        cache.add(round, for: request, withAdditionalIdentifier: "round")
        #expect(cache.imagefor(request, withAdditionalIdentifier: nil) === plain)
        #expect(cache.imagefor(request, withAdditionalIdentifier: "round") === round)
        #expect(cache.imagefor(try makeRequest("b"), withAdditionalIdentifier: nil) == nil)
        #expect(!cache.removeImagefor(request, withAdditionalIdentifier: "other"))
        #expect(cache.removeImagefor(request, withAdditionalIdentifier: nil))
        #expect(!cache.removeImagefor(request, withAdditionalIdentifier: nil))
        #expect(cache.imagefor(request, withAdditionalIdentifier: "round") === round)
        #expect(cache.shouldCache(plain, for: request, withAdditionalIdentifier: nil))
    }

    @Test func theLeastRecentlyUsedArePurged() {
        for index in 0..<10 { cache.add(makeImage(10), withIdentifier: "\(index)") }
        #expect(cache.memoryUsage == 100 && cache.image(withIdentifier: "0") != nil)
        cache.add(makeImage(10), withIdentifier: "10")
        #expect(cache.memoryUsage == 60)
        let left = (0...10).filter { cache.image(withIdentifier: "\($0)") != nil }
        #expect(left == [0, 6, 7, 8, 9, 10])
    }

    @Test func aCapacityBeyondAllNumbersIsAccepted() {
        let vast = AFAutoPurgingImageCache(memoryCapacity: .max, preferredMemoryCapacity: .max)
        vast.add(makeImage(), withIdentifier: "a")
        #expect(vast.memoryUsage == 4)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct ImageDownloaderTests {
    private let ends = EventRecorder<String>()

    private var success: AFImageDownloader.SuccessBlock {
        { [ends] request, response, image in
            let size = image.decoded(as: Bitmap.self).map { "\($0.width)" } ?? "encoded"
            ends.record("\(request.url?.lastPathComponent ?? "") \(response?.statusCode ?? 0) \(size)")
        }
    }

    private var failure: AFImageDownloader.FailureBlock {
        { [ends] request, response, error in
            let name = request.url?.lastPathComponent ?? ""
            ends.record("\(name) \(response?.statusCode ?? 0) \((error as NSError).code)")
        }
    }

    @Test func thereIsOneForAll() {
        #expect(AFImageDownloader.defaultInstance() === AFImageDownloader.defaultInstance())
        let own = AFImageDownloader(sessionConfiguration: AFImageDownloader.defaultURLSessionConfiguration())
        #expect(own.downloadPrioritization == .fifo && own.imageCache is AFAutoPurgingImageCache)
        #expect(own.sessionManager.responseSerializer is AFImageResponseSerializer)
    }

    @Test func anImageIsDownloadedOnceAndThenInTheCache() async throws {
        let transport = StubTransport { _ in png }
        let downloader = makeDownloader(transport)
        let id = UUID()
        let receipt = downloader.downloadImage(
            for: try makeRequest(), withReceiptID: id, success: success, failure: failure)
        #expect(receipt?.receiptID == id && receipt?.task.originalRequest?.url?.lastPathComponent == "a.png")
        #expect(try await ends.wait(count: 1) == ["a.png 200 1"])
        #expect(receipt?.task.state == .completed && (receipt?.task.response as? HTTPURLResponse)?.statusCode == 200)
        let second = downloader.downloadImage(for: try makeRequest(), success: success, failure: failure)
        #expect(second == nil)
        #expect(try await ends.wait(count: 2) == ["a.png 200 1", "a.png 0 1"])
        var fresh = try makeRequest()
        fresh.cachePolicy = .reloadIgnoringLocalCacheData
        downloader.downloadImage(for: fresh, success: success, failure: failure)
        let all = try await ends.wait(count: 3)
        #expect(all == ["a.png 200 1", "a.png 0 1", "a.png 200 1"])
        #expect(transport.requests.count == 2)
    }

    @Test func equalRequestsShareADownloadUntilTheLastIsCancelled() async throws {
        let (arrived, release) = (Signal(), Signal())
        let transport = StubTransport { _ in
            arrived.fire()
            await release.wait()
            return png
        }
        let downloader = makeDownloader(transport)
        let first = downloader.downloadImage(for: try makeRequest(), success: success, failure: failure)
        await arrived.wait()
        downloader.downloadImage(for: try makeRequest(), success: success, failure: failure)
        downloader.cancelTask(for: try #require(first))
        #expect(try await ends.wait(count: 1) == ["a.png 0 \(NSURLErrorCancelled)"])
        release.fire()
        #expect(try await ends.wait(count: 2).last?.hasSuffix("1") == true)
        #expect(transport.requests.count == 1)
    }

    @Test func cancelledDownloadsLeaveRoomForOthers() async throws {
        let arrived = EventRecorder<String>()
        let never = Signal()
        let transport = StubTransport { request in
            arrived.record(request.head.path ?? "")
            if request.head.path != "/last.png" { await never.wait() }
            return png
        }
        let downloader = makeDownloader(transport, limit: 2)
        var receipts: [AFImageDownloadReceipt] = []
        for index in 0..<5 {
            let receipt = downloader.downloadImage(for: try makeRequest("\(index).png"), failure: failure)
            receipts.append(try #require(receipt))
        }
        try await arrived.wait(count: 2)
        for receipt in receipts { receipt.task.cancel() }
        #expect(try await ends.wait(count: 5).allSatisfy { $0.hasSuffix("\(NSURLErrorCancelled)") })
        downloader.downloadImage(for: try makeRequest("last.png"), success: success, failure: failure)
        let all = try await ends.wait(count: 6)
        #expect(all.last == "last.png 200 1")
        never.fire()
    }

    @Test func failuresHaveAFNetworkingsCodes() async throws {
        let transport = StubTransport { request in
            switch request.head.path {
            case "/missing": .status(404, headerFields: [.contentType: "image/png"], body: pixel)
            case "/page": .status(200, headerFields: [.contentType: "text/html"], body: Data("page".utf8))
            default: .status(200, headerFields: [.contentType: "image/png"], body: Data("broken".utf8))
            }
        }
        let downloader = makeDownloader(transport)
        for (path, code) in [
            ("missing", NSURLErrorBadServerResponse), ("page", NSURLErrorCannotDecodeContentData),
            ("broken", NSURLErrorCannotDecodeContentData),
        ] {
            let count = ends.events.count
            downloader.downloadImage(for: try makeRequest(path), success: success, failure: failure)
            #expect(try await ends.wait(count: count + 1).last?.hasSuffix(" \(code)") == true)
        }
        var bad = try makeRequest()
        bad.url = nil
        #expect(downloader.downloadImage(for: bad, success: success, failure: failure) == nil)
        #expect(try await ends.wait(count: 4).last == " 0 \(NSURLErrorBadURL)")
    }

    @Test func anImageBehindARedirectIsDownloaded() async throws {
        let downloader = makeDownloader(
            StubTransport { request in
                request.head.path == "/a.png" ? .status(302, headerFields: [.location: "/b.png"]) : png
            })
        downloader.downloadImage(for: try makeRequest(), success: success, failure: failure)
        #expect(try await ends.wait(count: 1) == ["a.png 200 1"])
    }

    @Test func severalImagesAreDownloadedAtOnceAndADroppedDownloaderGoesOn() async throws {
        var downloader: AFImageDownloader? = makeDownloader(StubTransport { _ in png })
        for path in ["a.png", "b.png"] {
            downloader?.downloadImage(for: try makeRequest(path), success: success, failure: failure)
        }
        downloader = nil
        #expect(Set(try await ends.wait(count: 2)) == ["a.png 200 1", "b.png 200 1"])
    }

    @Test(arguments: [200, 404])
    func handlersComeOnTheMainQueueByDefault(status: Int) async throws {
        let key = DispatchSpecificKey<Int>()
        DispatchQueue.main.setSpecific(key: key, value: 4)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        let downloader = makeDownloader(
            StubTransport { _ in .status(.init(code: status), headerFields: [.contentType: "image/png"], body: pixel) })
        downloader.sessionManager.completionQueue = nil
        let queues = EventRecorder<Int>()
        downloader.downloadImage(
            for: try makeRequest(), success: { _, _, _ in queues.record(DispatchQueue.getSpecific(key: key) ?? 0) },
            failure: { _, _, _ in queues.record(DispatchQueue.getSpecific(key: key) ?? 0) })
        #expect(try await queues.wait(count: 1) == [4])
    }

    /// A cache of the program's own.
    private final class OwnCache: AFImageRequestCache {
        let calls = EventRecorder<String>()
        private let images = Mutex<[String: UIImage]>([:])

        func add(_ image: UIImage, withIdentifier identifier: String) { images.withLock { $0[identifier] = image } }
        func removeImage(withIdentifier identifier: String) -> Bool {
            images.withLock { $0.removeValue(forKey: identifier) } != nil
        }
        func removeAllImages() -> Bool { false }
        func image(withIdentifier identifier: String) -> UIImage? { images.withLock { $0[identifier] } }

        func shouldCache(
            _ image: UIImage, for request: URLRequest, withAdditionalIdentifier identifier: String?
        ) -> Bool {
            calls.record("should")
            return request.url?.lastPathComponent == "a.png"
        }
        func add(_ image: UIImage, for request: URLRequest, withAdditionalIdentifier identifier: String?) {
            add(image, withIdentifier: request.url?.absoluteString ?? "")
        }
        func removeImagefor(_ request: URLRequest, withAdditionalIdentifier identifier: String?) -> Bool { false }
        func imagefor(_ request: URLRequest, withAdditionalIdentifier identifier: String?) -> UIImage? {
            image(withIdentifier: request.url?.absoluteString ?? "")
        }
    }

    @Test func aCacheOfTheProgramIsAsked() async throws {
        let cache = OwnCache()
        let transport = StubTransport { _ in png }
        let downloader = makeDownloader(transport, cache: cache)
        for (index, path) in ["a.png", "a.png", "b.png"].enumerated() {
            downloader.downloadImage(for: try makeRequest(path), success: success, failure: failure)
            try await ends.wait(count: index + 1)
        }
        #expect(ends.events == ["a.png 200 1", "a.png 0 1", "b.png 200 1"])
        #expect(transport.requests.count == 2 && cache.calls.events.count == 2)
        #expect(cache.image(withIdentifier: "http://example.com/b.png") == nil)
    }

    @Test func aSubclassOfTheCacheDecides() async throws {
        final class Picky: AFAutoPurgingImageCache, @unchecked Sendable {
            override func shouldCache(
                _ image: UIImage, for request: URLRequest, withAdditionalIdentifier identifier: String?
            ) -> Bool { false }
        }
        let transport = StubTransport { _ in png }
        let downloader = makeDownloader(transport, cache: Picky())
        downloader.downloadImage(for: try makeRequest(), success: success, failure: failure)
        try await ends.wait(count: 1)
        #expect(downloader.imageCache?.imagefor(try makeRequest(), withAdditionalIdentifier: nil) == nil)
        #expect((downloader.imageCache as? Picky)?.memoryUsage == 0)
    }

    @Test func thePropertiesApplyToLaterDownloads() async throws {
        let downloader = makeDownloader(StubTransport { _ in png })
        downloader.imageCache = nil
        downloader.downloadPrioritization = .lifo
        let other = StubTransport { _ in png }
        let manager = makeManager("http://example.com/", other)
        manager.responseSerializer = AFImageResponseSerializer()
        downloader.sessionManager = manager
        downloader.downloadImage(for: try makeRequest(), success: success, failure: failure)
        #expect(try await ends.wait(count: 1) == ["a.png 200 encoded"] && other.requests.count == 1)
        manager.invalidateSessionCancelingTasks(true, resetSession: true)
        downloader.downloadImage(for: try makeRequest("b.png"), success: success, failure: failure)
        #expect(try await ends.wait(count: 2).count == 2)
    }
}

@MainActor
@Suite(.timeLimit(.minutes(5)))
struct ImageStateCategoryTests {
    @Test func aViewsStateShowsThePlaceholderAndThenTheImage() async throws {
        let release = Signal()
        let downloader = makeDownloader(
            StubTransport { _ in
                await release.wait()
                return png
            })
        let state = ImageState<UIImage>(try downloader.downloader)
        let (placeholder, shown) = (makeImage(), EventRecorder<String>())
        let url = try #require(URL(string: "http://example.com/a.png"))
        state.setImageWith(
            URLRequest(url: url), placeholderImage: placeholder,
            success: { request, response, image in
                shown.record("\(request.url == url) \(response == nil) \(image.decoded(as: Bitmap.self)?.height ?? 0)")
            }, failure: { _, _, _ in shown.record("failure") })
        #expect(state.image === placeholder)
        release.fire()
        #expect(try await shown.wait(count: 1) == ["true true 1"])
        #expect(state.image?.decoded(as: Bitmap.self)?.width == 1)
        // It is in the cache now.
        let second = ImageState<UIImage>(try downloader.downloader)
        second.setImageWith(url)
        #expect(second.image?.decoded != nil)
    }

    @Test func aCancelledImageCallsNoBlock() async throws {
        let release = Signal()
        let downloader = makeDownloader(
            StubTransport { _ in
                await release.wait()
                return .status(404)
            })
        let state = ImageState<UIImage>(try downloader.downloader)
        let shown = EventRecorder<String>()
        state.setImageWith(
            try makeRequest(), placeholderImage: nil, success: { _, _, _ in shown.record("success") },
            failure: { _, _, _ in shown.record("cancelled") })
        state.cancelImageDownloadTask()
        state.setImageWith(
            try makeRequest("b.png"), placeholderImage: nil,
            failure: { _, _, error in shown.record("\((error as NSError).code)") })
        release.fire()
        #expect(try await shown.wait(count: 1) == ["\(NSURLErrorBadServerResponse)"])
    }

    @Test func aRequestThatFailsShowsThePlaceholder() async throws {
        let downloader = makeDownloader(StubTransport { _ in .status(404) })
        let state = ImageState<UIImage>(try downloader.downloader)
        let (placeholder, codes) = (makeImage(), EventRecorder<Int>())
        var requests = [try makeRequest("missing"), try makeRequest()]
        requests[1].url = nil
        for (index, request) in requests.enumerated() {
            state.setImageWith(
                request, placeholderImage: placeholder,
                failure: { _, _, error in codes.record((error as NSError).code) })
            try await codes.wait(count: index + 1)
            #expect(state.image === placeholder)
        }
        #expect(codes.events == [NSURLErrorBadServerResponse, NSURLErrorBadURL])
    }

    @Test func buttonsHaveImagesForTheirStates() async throws {
        let downloader = makeDownloader(StubTransport { _ in png })
        ImageState<UIImage>.setSharedImageDownloader(downloader)
        defer { ImageState<UIImage>.setSharedImageDownloader(.defaultInstance()) }
        #expect(ImageState<UIImage>.sharedImageDownloader() === downloader)
        let (button, shown) = (try ButtonImageState<UIImage>(), EventRecorder<String>())
        let state = try ImageState<UIImage>()
        #expect(state.downloader === button.downloader)
        button.setImageFor(
            .normal, with: try makeRequest(), placeholderImage: nil, success: { _, _, _ in shown.record("image") })
        button.setBackgroundImageFor(
            .selected, with: try makeRequest("b.png"), placeholderImage: nil,
            success: { _, _, _ in shown.record("background") })
        try await shown.wait(count: 2)
        #expect(Set(shown.events) == ["image", "background"] && button.shownBackground(for: .selected) != nil)
        button.cancelImageDownloadTask(for: .normal)
        button.cancelBackgroundImageDownloadTask(for: .selected)
    }
}
