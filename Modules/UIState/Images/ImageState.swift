public import LinnetSession
public import Observation

/// The image for one place of a user interface, for example a cell of a list, which is reused while it is scrolled.
///
/// ```swift
/// let avatar = ImageState(downloader)
/// avatar.load(ImageRequest(post.user.avatarURL, processors: [.scaled(toFit: 64)]), placeholder: silhouette)
/// ```
/// An image is only shown for the latest request: loading another one replaces the image at once, by the one in the
/// cache or by the placeholder. A request that is replaced or cancelled, or whose state is released, no longer counts
/// for its download.
@MainActor
@Observable
public final class ImageState<Image: DecodedImage> {
    /// The phase of a state.
    public enum Phase: Sendable {
        /// No image was requested, or the request was cancelled.
        case idle
        /// The image was requested.
        case loading
        /// The image was loaded.
        case loaded
        /// The image could not be loaded.
        case failed(SessionError)

        /// Whether the image was requested and has not arrived.
        public var isLoading: Bool { if case .loading = self { true } else { false } }

        /// The error of an image that could not be loaded; nil in other phases.
        public var error: SessionError? { if case .failed(let error) = self { error } else { nil } }
    }

    /// A snapshot of a state.
    public struct Status: Sendable {
        /// The image to show: the requested one, a preview of it, or the placeholder.
        public var image: Image?
        /// The phase.
        public var phase = Phase.idle
        /// The progress of the download.
        public var progress = TransferProgress()
    }

    /// The image, the phase and the progress, which change together.
    public private(set) var status = Status()
    /// The request of the shown or awaited image; nil after ``cancel()``.
    public private(set) var request: ImageRequest<Image>?
    /// Loads the images.
    @ObservationIgnored public let downloader: ImageDownloader<Image>

    @ObservationIgnored private let latest = LatestValue(Status())
    @ObservationIgnored private var download: ImageDownload<Image>?
    @ObservationIgnored private var listener: Task<Void, Never>?

    /// Creates a state without an image.
    public init(_ downloader: ImageDownloader<Image>) {
        self.downloader = downloader
    }

    isolated deinit {
        listener?.cancel()
        download?.cancel()
    }

    /// The image to show: the requested one, a preview of it, or the placeholder.
    public var image: Image? { status.image }

    /// The phase.
    public var phase: Phase { status.phase }

    /// The progress of the download, in bytes.
    public var progress: TransferProgress { status.progress }

    /// The current status, then each new one; a slow reader misses intermediate ones. Ends when the state is released.
    public var statuses: AsyncStream<Status> { latest.stream }

    /// Shows the image of a request instead of the previous one.
    ///
    /// An image in the cache is shown immediately. Otherwise the placeholder is shown until the image arrives, and
    /// remains if it cannot be loaded. Loading an equal request again only changes its priority, while it loads and
    /// after it was loaded.
    ///
    /// - Parameters:
    ///   - request: The request; nil shows the placeholder.
    ///   - placeholder: The image to show until then. The default is none.
    public func load(_ request: ImageRequest<Image>?, placeholder: Image? = nil) {
        guard let request else {
            stop()
            return show(Status(image: placeholder))
        }
        if continues(request) { return }
        // The old request is cancelled after the new one has begun, so that a download for both continues.
        let former = download
        defer { former?.cancel() }
        download = nil
        stop()
        self.request = request
        let download = downloader.download(request)
        self.download = download
        if let result = download.result {
            status.progress = TransferProgress()
            return finish(result, placeholder: placeholder)
        }
        show(Status(image: placeholder, phase: .loading))
        listener = Task { [weak self, events = download.events, id = download.id] in
            for await event in events {
                guard let self, self.download?.id == id else { return }
                apply(event, placeholder: placeholder)
            }
        }
    }

    /// Stops loading. A shown image or placeholder remains.
    public func cancel() {
        stop()
        if case .loading = phase { show(Status(image: image)) }
    }

    /// Whether a request equals the current one, and that has not failed.
    private func continues(_ request: ImageRequest<Image>) -> Bool {
        guard let current = self.request, current.source == request.source, current.variant == request.variant else {
            return false
        }
        switch phase {
        case .loading:
            if download?.priority != request.priority { download?.priority = request.priority }
            return true
        case .loaded: return request.usesImageCache
        case .idle, .failed: return false
        }
    }

    private func stop() {
        listener?.cancel()
        listener = nil
        download?.cancel()
        download = nil
        request = nil
    }

    private func apply(_ event: ImageDownload<Image>.Event, placeholder: Image?) {
        switch event {
        case .progress(let progress):
            var status = status
            status.progress = progress
            show(status)
        case .preview(let image):
            var status = status
            status.image = image
            show(status)
        case .completed(let result): finish(result, placeholder: placeholder)
        }
    }

    private func finish(_ result: ImageDownload<Image>.Outcome, placeholder: Image?) {
        download = nil
        listener = nil
        var status = status
        switch result {
        case .success(let response):
            status.image = response.image
            status.phase = .loaded
        case .failure(let error):
            status.image = placeholder
            status.phase = .failed(error)
        }
        show(status)
    }

    private func show(_ status: Status) {
        self.status = status
        latest.send(status)
    }
}
