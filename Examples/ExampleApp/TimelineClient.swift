import FoundationEssentials
import Linnet

/// Asks a server for its timeline.
struct TimelineClient {
    static let path = "stream/0/posts/stream/global"
    let session: HTTPSession

    /// Makes a client that trusts as the policy says. Nothing is sent yet.
    init(baseURL: URL, policy: SecurityPolicy) throws(SessionError) {
        session = try HTTPSession(baseURL: baseURL) {
            $0.securityPolicy = policy
            $0.timeouts.request = .seconds(30)
        }
    }

    /// The newest posts, at most as many as asked for, also from a server that sends more.
    func posts(_ count: Int) async throws(SessionError) -> Response<[Post]> {
        let response = try await session.get(Self.path, ["count": ParameterValue(count)]).response(as: Timeline.self)
        return Response(
            value: Array(response.value.data.prefix(count)), url: response.url, head: response.head,
            body: response.body, metrics: response.metrics)
    }

    /// The newest posts, with a client that is gone afterwards; `watch` sees its session before anything is sent.
    static func fetch(
        _ count: Int, from url: URL, policy: SecurityPolicy, watch: (Session) async -> Void = { _ in }
    ) async throws(SessionError) -> Response<[Post]> {
        let client = try TimelineClient(baseURL: url, policy: policy)
        await watch(client.session.session)
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
