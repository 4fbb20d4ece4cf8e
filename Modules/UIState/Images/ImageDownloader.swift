internal import FoundationEssentials
public import LinnetSession
internal import Synchronization

/// Downloads and decodes images, and keeps them in memory.
///
/// ```swift
/// let downloader = try ImageDownloader(session: HTTPSession(), serializer: .image)
/// let avatar = try await downloader.image(for: ImageRequest(url, processors: [.scaled(toFit: 64)])).image
/// ```
/// The serializer determines the type of the images; `.image` of `LinnetImageSerialization` decodes bitmaps. A user
/// interface shows an image with ``ImageState``.
///
/// - Requests with equal URLs, header fields and options share a download, from the first one until its image was
///   decoded. Each variant of the image is made once. Cancelling one request does not affect the others.
/// - If all of them first scale the image to the same size, a `ScalingImageSerializer`, such as `.image`, decodes it in
///   this size. Otherwise the image is decoded in full size, and each variant is made from it.
/// - At most ``Configuration/maximumActiveDownloads`` run at a time; the others wait in the order of their priorities
///   and by ``Configuration/prioritization``. Failed and cancelled downloads make room for the next ones.
/// - Images are decoded and processed off the main thread, at most ``Configuration/maximumActiveDecodings`` at a time.
/// - The downloader takes images from ``imageCache`` if the request's cache policy allows it. Below it, the session's
///   cache stores responses: `.tiered(memory: 20 << 20, disk: 150 << 20, at: folder)` of `LinnetDiskCache` has
///   AFNetworking's sizes.
///
/// All members can be used from any thread.
public final class ImageDownloader<Image: DecodedImage>: Sendable {
    typealias Queue = ImageLoadQueue<ImageSource>

    struct State {
        var queue: Queue
        var loads: [Queue.LoadID: ImageLoad<Image>] = [:]
        var downloads: [Queue.TicketID: ImageDownload<Image>] = [:]
        var lastTicket: Queue.TicketID = 0
    }

    /// The session that sends the requests.
    public let session: HTTPSession
    /// The configuration.
    public let configuration: Configuration
    let serializer: any ResponseSerializer<Image>
    let scalingSerializer: (any ScalingImageSerializer<Image>)?
    let state: Mutex<State>

    /// Creates a downloader.
    ///
    /// - Parameters:
    ///   - session: Sends the requests. Its `maximumBodySize` limits the size of an encoded image.
    ///   - serializer: Validates the responses and decodes their bodies, off the main thread.
    ///   - configure: Changes the default configuration.
    public convenience init(
        session: HTTPSession, serializer: some ResponseSerializer<Image>,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(session: session, serializer: serializer, configuration: configuration)
    }

    /// Creates a downloader with a configuration.
    public init(session: HTTPSession, serializer: some ResponseSerializer<Image>, configuration: Configuration) {
        self.session = session
        self.serializer = serializer
        scalingSerializer = serializer as? any ScalingImageSerializer<Image>
        self.configuration = configuration
        state = Mutex(
            State(
                queue: ImageLoadQueue(
                    prioritization: configuration.prioritization,
                    maximumActiveDownloads: configuration.maximumActiveDownloads,
                    maximumActiveDecodings: configuration.maximumActiveDecodings)))
    }

    /// The images in memory; nil if the downloader does not keep images.
    public var imageCache: AutoPurgingImageCache<Image>? { configuration.imageCache }

    /// The number of running downloads, including finished ones whose images wait for decoding.
    public var activeDownloads: Int { state.withLock { $0.queue.activeDownloads } }

    /// The number of downloads that wait for the end of others.
    public var waitingDownloads: Int { state.withLock { $0.queue.waitingDownloads } }

    /// Returns an image: from the cache, or downloaded and decoded.
    ///
    /// Cancelling the caller's task cancels the request, as ``ImageDownload/cancel()`` does.
    ///
    /// - Throws: `SessionError` of the download; `SessionError.Code.decodingFailed` for an image that cannot be
    ///   decoded, or an error of a processor.
    public func image(for request: ImageRequest<Image>) async throws(SessionError) -> ImageResponse<Image> {
        let download = download(request)
        return try await withTaskCancellationHandler {
            await download.outcome()
        } onCancel: {
            download.cancel()
        }.get()
    }

    /// Requests an image. An image in the cache is in ``ImageDownload/result`` when this returns.
    @discardableResult
    public func download(_ request: ImageRequest<Image>) -> ImageDownload<Image> {
        let id = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let download = ImageDownload(id: id, request: request) { [weak self] id, order in self?.follow(order, of: id) }
        if let image = cachedImage(for: request, request.key) {
            download.finish(.success(ImageResponse(image: image, response: nil)))
        } else {
            enqueue(download)
        }
        return download
    }

    /// Downloads images that may be needed soon into the cache, after all requests of higher priority.
    ///
    /// A later request for one of them shares its download, which then has the priority of that request.
    ///
    /// - Returns: The receipts, for cancelling them.
    @discardableResult
    public func prefetch(_ requests: [ImageRequest<Image>]) -> [ImageDownload<Image>] {
        requests.map { request in
            var request = request
            request.priority = min(request.priority, .low)
            return download(request)
        }
    }

    private func cachedImage(for request: ImageRequest<Image>, _ key: ImageKey) -> Image? {
        request.usesImageCache ? imageCache?.image(for: key) : nil
    }

    private func enqueue(_ download: ImageDownload<Image>) {
        let request = download.request
        let original = request.processors.isEmpty ? nil : cachedImage(for: request, request.originalKey)
        let (isNew, actions) = state.withLock { state in
            let (load, isNew, actions) = state.queue.add(
                download.id, for: request.source, priority: request.priority, isFetched: original != nil)
            state.downloads[download.id] = download
            if isNew { state.loads[load] = ImageLoad(request: request, original: original) }
            return (isNew, actions)
        }
        // A load that ended just before this one began has left its image in the cache.
        if isNew, let image = cachedImage(for: request, request.key) {
            return withdraw(download.id, with: .success(ImageResponse(image: image, response: nil)))
        }
        advance { _ in actions }
    }

    private func follow(_ order: ImageDownload<Image>.Order, of id: Queue.TicketID) {
        switch order {
        case .setPriority(let priority): advance { $0.queue.setPriority(priority, of: id) }
        case .cancel: withdraw(id, with: nil)
        }
    }

    /// Takes a receipt out of the queue, unless it has ended, and ends it.
    private func withdraw(_ id: Queue.TicketID, with outcome: ImageDownload<Image>.Outcome?) {
        var download: ImageDownload<Image>?
        advance { state in
            guard let actions = state.queue.cancel(id) else { return [] }
            download = state.downloads.removeValue(forKey: id)
            return actions
        }
        if let download { download.finish(outcome ?? .failure(.cancelledImage(download.request.url))) }
    }
}

extension ImageDownloader {
    /// The configuration of a downloader.
    public struct Configuration: Sendable {
        /// The maximum number of downloads at a time. The default is 4. Beyond it, downloads wait.
        public var maximumActiveDownloads = 4
        /// The maximum number of images to decode at a time, each on a thread of the Swift concurrency pool. The
        /// default is from 1 to 4, so that one of its threads is free. Beyond it, images wait.
        public var maximumActiveDecodings = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount - 1))
        /// The order of requests with equal priorities. The default is ``ImageDownloadPrioritization/firstInFirstOut``.
        public var prioritization = ImageDownloadPrioritization.firstInFirstOut
        /// The images in memory; nil for none. The default is a new cache of 100 MiB. Downloaders can share a cache.
        public var imageCache: AutoPurgingImageCache<Image>? = AutoPurgingImageCache()
        /// Decides whether a new image is kept in the cache. The default keeps all. Called on the thread that decoded
        /// the image.
        public var shouldCache: @Sendable (Image, ImageRequest<Image>) -> Bool = { _, _ in true }
        /// Decodes the received part of a body, for ``ImageDownload/Event/preview(_:)``; nil, the default, for no
        /// previews.
        ///
        /// Called off the main thread each time the received part has doubled. It returns nil if there is nothing to
        /// show yet. Previews are neither processed nor cached.
        public var previewDecoder: (@Sendable (SerializedResponse) -> Image?)?

        /// Creates a configuration with the defaults.
        public init() {}
    }
}
