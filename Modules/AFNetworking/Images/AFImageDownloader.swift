internal import Dispatch
public import Foundation  // NSObject, UUID
internal import LinnetSerialization
internal import LinnetSession
public import LinnetUIState
internal import Synchronization

/// The order in which downloads that wait are started.
public enum AFImageDownloadPrioritization: Int, Sendable {
    /// The first one first.
    case fifo = 0
    /// The last one first.
    case lifo = 1
}

/// A receipt for an image that was requested.
public final class AFImageDownloadReceipt: NSObject, Sendable {
    /// The task of the download. Cancelling it cancels this receipt alone.
    public let task: URLSessionDataTask
    /// The identifier that the download was requested with.
    public let receiptID: UUID

    init(_ task: URLSessionDataTask, _ receiptID: UUID) {
        (self.task, self.receiptID) = (task, receiptID)
    }
}

// SAFETY: The mutable state is in a mutex, and the other property is constant.
/// Downloads images, and keeps them in a cache: AFNetworking's face of `ImageDownloader`.
///
/// ```swift
/// let downloader = AFImageDownloader.defaultInstance()
/// downloader.sessionManager.responseSerializer = AFImageResponseSerializer { try ImageDecoder().decode($0) }
/// let receipt = downloader.downloadImage(
///     for: URLRequest(url: url), success: { request, response, image in … }, failure: { request, response, error in … })
/// ```
/// Requests with equal URLs, header fields and options share a download. Handlers come on the completion queue of the
/// manager, which is the main queue by default. The manager's session sends the requests and its serializer reads the
/// images; its blocks are not called.
open class AFImageDownloader: NSObject, @unchecked Sendable {
    /// The image that was requested, and its response, which is nil for an image in the cache.
    public typealias SuccessBlock = @Sendable (URLRequest, HTTPURLResponse?, UIImage) -> Void
    /// The error of a download, and its response if there was one.
    public typealias FailureBlock = @Sendable (URLRequest, HTTPURLResponse?, any Error) -> Void

    private struct State {
        var imageCache: (any AFImageRequestCache)?
        var sessionManager: AFHTTPSessionManager
        var prioritization: AFImageDownloadPrioritization
        var lastNumber = 0
        /// Linnet's downloader, and the session that it was made with.
        var downloader: (ImageDownloader<UIImage>, URLSession)?
    }

    private static let common = AFImageDownloader()

    private let maximumActiveDownloads: Int
    private let state: Mutex<State>

    /// The downloader that a program usually has.
    open class func defaultInstance() -> AFImageDownloader { common }

    /// The configuration of ``defaultInstance()``: cookies and a cache in memory.
    open class func defaultURLSessionConfiguration() -> URLSessionConfiguration { .default }

    /// Creates a downloader with the default configuration.
    public override convenience init() { self.init(sessionConfiguration: Self.defaultURLSessionConfiguration()) }

    /// Creates a downloader with a manager of its own, whose serializer is an ``AFImageResponseSerializer``, four
    /// downloads at a time, and a new cache.
    public convenience init(sessionConfiguration configuration: URLSessionConfiguration) {
        let manager = AFHTTPSessionManager(baseURL: nil, sessionConfiguration: configuration)
        manager.responseSerializer = AFImageResponseSerializer()
        self.init(
            sessionManager: manager, downloadPrioritization: .fifo, maximumActiveDownloads: 4,
            imageCache: AFAutoPurgingImageCache())
    }

    /// Creates a downloader.
    ///
    /// - Parameters:
    ///   - sessionManager: Its session sends the requests, and its serializer reads the images.
    ///   - downloadPrioritization: The order of downloads that wait.
    ///   - maximumActiveDownloads: The number of downloads at a time; at least one.
    ///   - imageCache: Keeps the images; nil for none.
    public init(
        sessionManager: AFHTTPSessionManager, downloadPrioritization: AFImageDownloadPrioritization,
        maximumActiveDownloads: Int, imageCache: (any AFImageRequestCache)?
    ) {
        self.maximumActiveDownloads = max(1, maximumActiveDownloads)
        state = Mutex(
            State(
                imageCache: imageCache, sessionManager: sessionManager, prioritization: downloadPrioritization))
    }

    // MARK: Properties, which apply to the downloads that begin later

    /// Keeps the images; nil for none.
    open var imageCache: (any AFImageRequestCache)? {
        get { state.withLock { $0.imageCache } }
        set { change { $0.imageCache = newValue } }
    }

    /// Its session sends the requests, and its serializer reads the images.
    open var sessionManager: AFHTTPSessionManager {
        get { state.withLock { $0.sessionManager } }
        set { change { $0.sessionManager = newValue } }
    }

    /// The order of downloads that wait.
    open var downloadPrioritization: AFImageDownloadPrioritization {
        get { state.withLock { $0.prioritization } }
        set { change { $0.prioritization = newValue } }
    }

    private func change(_ change: (inout State) -> Void) {
        let former = state.withLock { state in
            let former = state
            change(&state)
            state.downloader = nil
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Linnet's downloader with the current properties.
    ///
    /// - Throws: `SessionError` if the manager's session cannot be made.
    public var downloader: ImageDownloader<UIImage> {
        get throws {
            let manager = sessionManager
            let session = manager.session
            let http = try session.result.get()
            return state.withLock { state in
                if let (downloader, owner) = state.downloader, owner === session { return downloader }
                let made = Self.made(http, state, maximumActiveDownloads)
                state.downloader = (made, session)
                return made
            }
        }
    }

    private static func made(
        _ session: HTTPSession, _ state: State, _ maximumActiveDownloads: Int
    ) -> ImageDownloader<UIImage> {
        let (cache, manager) = (state.imageCache, state.sessionManager)
        return ImageDownloader(session: session, serializer: ManagedImageSerializer(manager: manager)) {
            $0.maximumActiveDownloads = maximumActiveDownloads
            $0.prioritization = state.prioritization == .lifo ? .lastInFirstOut : .firstInFirstOut
            $0.imageCache = (cache as? AFAutoPurgingImageCache)?.cache
            $0.shouldCache = { image, request in
                let sent = SessionRequest(url: request.url, headerFields: request.headerFields)
                return cache?.shouldCache(image, for: URLRequest(sent), withAdditionalIdentifier: nil) ?? true
            }
        }
    }

    // MARK: Downloads

    /// Requests an image. Each handler is called at most once; one of them is called.
    ///
    /// - Returns: A receipt for cancelling it; nil for an image in the cache, and for a request that cannot be sent.
    @discardableResult
    open func downloadImage(
        for request: URLRequest, success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> AFImageDownloadReceipt? {
        downloadImage(for: request, withReceiptID: UUID(), success: success, failure: failure)
    }

    /// Requests an image, with an identifier for its receipt.
    @discardableResult
    open func downloadImage(
        for request: URLRequest, withReceiptID receiptID: UUID, success: SuccessBlock? = nil,
        failure: FailureBlock? = nil
    ) -> AFImageDownloadReceipt? {
        let queue = sessionManager.completionQueue ?? .main
        guard let wanted = ImageRequest(request) else {
            let error = NSError.badURL(request.url?.absoluteString ?? "")
            queue.async { failure?(request, nil, error) }
            return nil
        }
        if let image = customCache(for: request)?.imagefor(request, withAdditionalIdentifier: nil) {
            queue.async { success?(request, nil, image) }
            return nil
        }
        do {
            let download = try downloader.download(wanted)
            // One without a response was in the cache; any other may have ended already.
            if case .success(let cached) = download.result, cached.response == nil {
                queue.async { success?(request, nil, cached.image) }
                return nil
            }
            let task = ImageDownloadTask(nextNumber(), request, download)
            follow(download, of: task, on: queue, success, failure)
            return AFImageDownloadReceipt(task, receiptID)
        } catch {
            let error = (error as? SessionError)?.nsError ?? error as NSError
            queue.async { failure?(request, nil, error) }
            return nil
        }
    }

    /// Cancels the receipt: its failure handler is called with `NSURLErrorCancelled`. The download ends when no receipt
    /// is left.
    open func cancelTask(for imageDownloadReceipt: AFImageDownloadReceipt) { imageDownloadReceipt.task.cancel() }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// A cache of the program's own, which Linnet's downloader does not know, if the request may be answered from it.
    private func customCache(for request: URLRequest) -> (any AFImageRequestCache)? {
        guard let cache = imageCache, !(cache is AFAutoPurgingImageCache) else { return nil }
        return [.useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad]
            .contains(request.cachePolicy) ? cache : nil
    }

    private func follow(
        _ download: ImageDownload<UIImage>, of task: ImageDownloadTask, on queue: DispatchQueue,
        _ success: SuccessBlock?, _ failure: FailureBlock?
    ) {
        let request = task.originalRequest ?? URLRequest(SessionRequest(url: download.request.url))
        let cache = customCache(for: request)
        Task {
            do throws(SessionError) {
                let outcome = try await download.value
                let image = outcome.image
                if let cache, cache.shouldCache(image, for: request, withAdditionalIdentifier: nil) {
                    cache.add(image, for: request, withAdditionalIdentifier: nil)
                }
                let response = outcome.response.map { HTTPURLResponse(url: $0.url, head: $0.head) }
                _ = task.end(response, nil)
                queue.async { success?(request, response, image) }
            } catch {
                let failed = error.nsError
                let response = error.head.map { HTTPURLResponse(url: error.url, head: $0) }
                _ = task.end(response, failed)
                queue.async { failure?(request, response, failed) }
            }
        }
    }
}

/// Reads an image by the serializer that a manager has when it arrives.
private struct ManagedImageSerializer: ResponseSerializer {
    let manager: AFHTTPSessionManager

    func serialize(_ response: SerializedResponse) throws(SerializationError) -> UIImage {
        var error: NSError?
        let head = HTTPURLResponse(url: response.url, head: response.head)
        let object = manager.responseSerializer.responseObject(for: head, data: response.body, error: &error)
        if error == nil, let image = object as? UIImage { return image }
        throw SerializationError(
            code: error?.serializationCode ?? .decodingFailed,
            message: error?.localizedDescription ?? "The response has no image.", underlying: error, response: response)
    }
}

extension NSError {
    fileprivate var serializationCode: SerializationError.Code {
        code == NSURLErrorBadServerResponse ? .unacceptableStatus : .decodingFailed
    }
}

/// The task of a receipt. Its download runs from the beginning.
final class ImageDownloadTask: URLSessionDataTask, @unchecked Sendable {
    private let receipt: ImageDownload<UIImage>?

    init(_ number: Int, _ request: URLRequest, _ receipt: ImageDownload<UIImage>) {
        self.receipt = receipt
        super.init(number, request, nil) { _ in }
    }

    required init(
        _ number: Int, _ request: URLRequest?, _ base: (any SessionTask)?,
        willStart: @escaping @Sendable (URLSessionTask) -> Void
    ) {
        receipt = nil
        super.init(number, request, base, willStart: willStart)
    }

    override func resume() {}
    override func suspend() {}
    override func cancel() { receipt?.cancel() }
    override var state: State { receipt?.result == nil ? .running : .completed }
}
