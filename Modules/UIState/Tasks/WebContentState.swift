public import FoundationEssentials
public import LinnetSession
public import Observation

/// The content of a web view: a page that is downloaded, transformed, and passed to a renderer.
///
/// ```swift
/// let page = WebContentState(session)
/// page.load(SessionRequest(url: url)) { response in Data(sanitized(response.data)) }
/// ```
@MainActor
@Observable
public final class WebContentState {
    /// A page, ready to be rendered.
    public struct Content: Sendable, Hashable {
        /// The bytes, after the transform.
        public var data: Data
        /// The media type, in lower case and without parameters; nil if neither the response nor the caller named one.
        public var mimeType: String?
        /// The name of the text encoding, such as `utf-8`; nil if neither the response nor the caller named one.
        public var textEncodingName: String?
        /// The URL of the page after redirects, the base of its links.
        public var baseURL: URL
    }

    /// The phase of a state.
    public enum Phase: Sendable {
        /// No page was requested, or the request was cancelled.
        case idle
        /// The page was requested. The previous content remains.
        case loading
        /// The page was loaded.
        case loaded(Content)
        /// The page could not be loaded.
        case failed(SessionError)
    }

    /// Changes a page before it is rendered. It is called off the main thread, and returns the content.
    public typealias Transform = @Sendable (SessionResponse<Data>) throws -> Data

    /// A snapshot of a state.
    public struct Status: Sendable {
        /// The phase.
        public var phase = Phase.idle
        /// The shown page; the previous one while another is loaded.
        public var content: Content?
        /// The progress of the download.
        public var progress = TransferProgress()
    }

    /// The phase, the content and the progress, which change together.
    public private(set) var status = Status()
    /// The session that sends the requests.
    @ObservationIgnored public let session: HTTPSession

    @ObservationIgnored private let latest = LatestValue(Status())
    @ObservationIgnored private var task: DataTask<Data>?
    @ObservationIgnored private var listener: Task<Void, Never>?

    /// Creates a state without content.
    public init(_ session: HTTPSession) {
        self.session = session
    }

    isolated deinit {
        stop()
    }

    /// The phase.
    public var phase: Phase { status.phase }

    /// The shown page; the previous one while another is loaded.
    public var content: Content? { status.content }

    /// The progress of the download, in bytes.
    public var progress: TransferProgress { status.progress }

    /// The current status, then each new one; a slow reader misses intermediate ones. Ends when the state is released.
    public var statuses: AsyncStream<Status> { latest.stream }

    /// Loads a page, and cancels the request of the previous one.
    ///
    /// - Parameters:
    ///   - request: The request, which is sent with the session's header fields.
    ///   - mimeType: The media type of the content. The default is the type of the response.
    ///   - textEncodingName: The text encoding of the content. The default is the charset of the response.
    ///   - transform: Changes the page. The default keeps it. Its error fails the page with
    ///     `SessionError.Code.decodingFailed`.
    public func load(
        _ request: SessionRequest, mimeType: String? = nil, textEncodingName: String? = nil,
        transform: @escaping Transform = { $0.data }
    ) {
        stop()
        let task = session.call(request).task(DataResponseSerializer())
        self.task = task
        show(Status(phase: .loading, content: content))
        task.resume()
        listener = Task { [weak self, events = task.events, id = task.id] in
            for await event in events {
                switch event {
                case .state: continue
                case .progress(let progress): self?.show(progress.download, of: id)
                case .completed(let result):
                    let content = await Self.content(
                        of: result, mimeType: mimeType, textEncodingName: textEncodingName, transform)
                    self?.finish(content, of: id)
                }
            }
        }
    }

    /// Stops loading. The shown content remains.
    public func cancel() {
        stop()
        if case .loading = phase { show(Status(phase: content.map { .loaded($0) } ?? .idle, content: content)) }
    }

    private func stop() {
        listener?.cancel()
        listener = nil
        task?.cancel()
        task = nil
    }

    private func show(_ progress: TransferProgress, of id: UInt64) {
        guard task?.id == id else { return }
        var status = status
        status.progress = progress
        show(status)
    }

    private func finish(_ result: Result<Content, SessionError>, of id: UInt64) {
        guard task?.id == id else { return }
        task = nil
        var status = status
        switch result {
        case .success(let content):
            status.content = content
            status.phase = .loaded(content)
        case .failure(let error):
            status.phase = .failed(error)
        }
        show(status)
    }

    private func show(_ status: Status) {
        self.status = status
        latest.send(status)
    }

    @concurrent
    private nonisolated static func content(
        of result: Result<SessionResponse<Data>, SessionError>, mimeType: String?, textEncodingName: String?,
        _ transform: Transform
    ) async -> Result<Content, SessionError> {
        result.flatMap { response in
            let type = SerializedResponse(url: response.url, head: response.head).mediaType
            do {
                return .success(
                    Content(
                        data: try transform(response), mimeType: mimeType ?? type?.essence,
                        textEncodingName: textEncodingName ?? type?.parameter("charset"), baseURL: response.url))
            } catch {
                return .failure(
                    SessionError(
                        .decodingFailed, "The transform of the page failed: \(SessionError.cause(error))",
                        underlying: error, url: response.url))
            }
        }
    }
}
