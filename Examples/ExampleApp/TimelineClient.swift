import FoundationEssentials
import Linnet
import LinnetImageSerialization
import LinnetUIState

/// The API of the timeline's server: one session, and a method for each request.
///
/// An app has one client for each server, and keeps it: the session keeps connections open, and its cache is shared by
/// all requests.
struct TimelineClient: Sendable {
    static let path = "stream/0/posts/stream/global"
    static let uploadPath = "stream/0/files"
    /// The largest timeline or picture, in bytes. Attachments are downloaded into files, and have no limit.
    static let maximumBodySize = 8 << 20
    let session: HTTPSession
    /// Loads users' pictures, each once, and keeps them in memory.
    let avatars: ImageDownloader<Bitmap>

    /// Creates a client with a security policy. It sends nothing.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the server.
    ///   - policy: The security policy.
    ///   - movesRequests: Whether all requests go to the base URL's port, because they may be of an earlier run of the
    ///     embedded server.
    init(baseURL: URL, policy: SecurityPolicy, movesRequests: Bool = false) throws(SessionError) {
        session = try HTTPSession(baseURL: baseURL) {
            $0.securityPolicy = policy
            $0.timeouts.idleRead = .seconds(30)
            $0.maximumBodySize = Self.maximumBodySize
            $0.retryPolicy = .limited(to: 1)
            $0.cacheStore = MemoryCacheStore(limit: 20 << 20)
            if movesRequests { $0.requestAdapters = [PortAdapter(port: baseURL.port)] }
        }
        let options = ImageDecoder.Options(maximumPixels: 4_000_000, maximumDimension: 96)
        avatars = ImageDownloader(session: session, serializer: ImageResponseSerializer(options: options))
    }

    /// Returns the newest posts. Posts beyond the requested number are dropped.
    func posts(_ count: Int) async throws(SessionError) -> SessionResponse<[Post]> {
        Self.page(count, of: try await timeline(count).response(as: Timeline.self))
    }

    /// Makes a handle on the request for the newest posts.
    func postsTask(_ count: Int) -> DataTask<Timeline> { timeline(count).task(as: Timeline.self) }

    /// The posts of a response, at most the requested number.
    static func page(_ count: Int, of response: SessionResponse<Timeline>) -> SessionResponse<[Post]> {
        response.map { Array($0.data.prefix(count)) }
    }

    /// Makes a handle on the upload of a picture as a form.
    func uploadTask(_ picture: Data, fileName: String) -> UploadTask<Data> {
        var form = MultipartForm()
        form.append("A picture", name: "title")
        form.append(picture, name: "picture", fileName: fileName, contentType: "image/bmp")
        return session.post(Self.uploadPath, form: form).task()
    }

    /// Returns a user's picture; nil if it cannot be loaded.
    func avatar(of user: User) async -> Bitmap? {
        guard let url = URL(string: user.avatarImage.url) else { return nil }
        return try? await avatars.image(for: ImageRequest(url)).image
    }

    private func timeline(_ count: Int) -> HTTPCall {
        session.get(Self.path, ["count": ParameterValue(count)]).timeout(.seconds(30))
    }

    /// Returns the newest posts with a temporary client.
    static func fetch(
        _ count: Int, from url: URL, policy: SecurityPolicy
    ) async throws(SessionError) -> SessionResponse<[Post]> {
        let client = try TimelineClient(baseURL: url, policy: policy)
        do {
            let response = try await client.posts(count)
            await client.session.shutdown()
            return response
        } catch {
            await client.session.shutdown(.immediate)
            throw error
        }
    }
}

/// Sends all requests to one port.
private struct PortAdapter: RequestAdapter {
    let port: Int?

    func adapt(_ request: SessionRequest) -> SessionRequest {
        var request = request
        var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        parts?.port = port
        if let url = parts?.url { request.url = url }
        return request
    }
}
