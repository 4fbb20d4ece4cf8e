import FoundationEssentials
import Linnet
import LinnetImageSerialization
import LinnetUIState

/// The API of the timeline's server: a method for each request, and one session, which keeps connections open and
/// shares its cache. An app has one client for each server.
struct TimelineClient: Sendable {
    static let path = "stream/0/posts/stream/global"
    static let uploadPath = "stream/0/files"
    /// The largest timeline or picture, in bytes. Attachments are downloaded into files, and have no limit.
    static let maximumBodySize = 8 << 20
    let session: HTTPSession
    /// Loads users' pictures, each once, and keeps them in memory.
    let avatars: ImageDownloader<Bitmap>
    /// The times of the last requests.
    let requests: RequestLog

    /// Creates a client, which sends nothing yet. On demand it moves all requests to the base URL's port, because they
    /// may be of an earlier run of the embedded server.
    init(baseURL: URL, policy: SecurityPolicy, movesRequests: Bool = false) throws(SessionError) {
        let requests = RequestLog()
        self.requests = requests
        session = try HTTPSession(baseURL: baseURL) {
            $0.instruments = [requests]
            $0.securityPolicy = policy
            $0.timeouts.idleRead = .seconds(30)
            $0.maximumBodySize = Self.maximumBodySize
            $0.retryPolicy = .limited(to: 1)
            $0.cacheStore = MemoryCacheStore(limit: 20 << 20)
            $0.decoder.keyDecodingStrategy = .convertFromSnakeCase
            if movesRequests { $0.requestAdapters = [PortAdapter(port: baseURL.port)] }
        }
        let options = ImageDecoder.Options(maximumPixels: 4_000_000, maximumDimension: 96)
        avatars = ImageDownloader(session: session, serializer: ImageResponseSerializer(options: options))
    }

    /// Returns the newest posts.
    func posts(_ count: Int) async throws(SessionError) -> SessionResponse<Timeline> {
        try await timeline(count).response(as: Timeline.self)
    }

    /// Makes a handle on the same request, which a user interface can follow.
    func postsTask(_ count: Int) -> DataTask<Timeline> { timeline(count).task(as: Timeline.self) }

    private func timeline(_ count: Int) -> HTTPCall {
        session.get(Self.path, ["count": ParameterValue(count)]).timeout(.seconds(30))
    }

    /// Makes a handle on the upload of a file as a form. A file that cannot be read is an error.
    func uploadTask(_ file: URL) throws(MultipartError) -> UploadTask<Data> {
        var form = MultipartForm()
        form.append("A file", name: "title")
        try form.append(fileAt: file, name: "file")
        return session.post(Self.uploadPath, form: form).task()
    }

    /// The same for a file in memory.
    func uploadTask(_ file: Data, named name: String) -> UploadTask<Data> {
        var form = MultipartForm()
        form.append("A file", name: "title")
        form.append(file, name: "file", fileName: name, contentType: "application/octet-stream")
        return session.post(Self.uploadPath, form: form).task()
    }

    /// Makes a handle on the upload of a picture as a form, which is slowed down so that its progress can be seen.
    func uploadTask(_ picture: Data, fileName: String) -> UploadTask<Data> {
        var form = MultipartForm()
        form.append("A picture", name: "title")
        form.append(picture, name: "picture", fileName: fileName, contentType: "image/png")
        form.throttle(packetSize: 32, delay: .milliseconds(50))
        return session.post(Self.uploadPath, form: form).task()
    }
}

/// Sends all requests to one port.
private struct PortAdapter: RequestAdapter {
    let port: Int?

    func adapt(_ request: SessionRequest) -> SessionRequest {
        var request = request
        var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        parts?.port = port
        request.url = parts?.url ?? request.url
        return request
    }
}
