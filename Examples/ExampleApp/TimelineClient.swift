import FoundationEssentials
import Linnet

/// Fetches the timeline of a server.
struct TimelineClient {
    static let path = "stream/0/posts/stream/global"
    let session: HTTPSession

    /// Creates a client with a security policy. It sends nothing.
    init(baseURL: URL, policy: SecurityPolicy) throws(SessionError) {
        session = try HTTPSession(baseURL: baseURL) {
            $0.securityPolicy = policy
            $0.timeouts.request = .seconds(30)
        }
    }

    /// Returns the newest posts. Posts beyond the requested number are dropped.
    func posts(_ count: Int) async throws(SessionError) -> SessionResponse<[Post]> {
        let response = try await session.get(Self.path, ["count": ParameterValue(count)]).response(as: Timeline.self)
        return SessionResponse(
            value: Array(response.value.data.prefix(count)), url: response.url, head: response.head,
            data: response.data, metrics: response.metrics)
    }

    /// Returns the newest posts with a temporary client. `watch` is called with its session before the request is sent.
    static func fetch(
        _ count: Int, from url: URL, policy: SecurityPolicy, watch: (HTTPSession) async -> Void = { _ in }
    ) async throws(SessionError) -> SessionResponse<[Post]> {
        let client = try TimelineClient(baseURL: url, policy: policy)
        await watch(client.session)
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
