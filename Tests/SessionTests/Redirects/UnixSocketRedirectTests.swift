import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// Redirects to and from hosts on unix sockets.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct UnixSocketRedirectTests {
    /// A server on a socket, which redirects to the location, and a session for which `local.test` and `alias.test` are
    /// that server.
    private func withServers(
        location: @escaping @Sendable (MockServer) -> String,
        perform: (HTTPSession, _ local: MockServer, _ network: MockServer) async throws -> Void
    ) async throws {
        let path = "/tmp/linnet-\(UUID().uuidString).sock"
        let configuration = MockServer.Configuration {
            $0.hostName = "local.test"
            $0.unixSocket = path
        }
        try await withMockServer(
            routes: MockServer.Routes { $0.on("/*") { _ in .redirect(to: "http://local.test/secret") } }
        ) { network in
            let target = location(network)
            let routes = MockServer.Routes {
                $0.on("/away") { _ in .redirect(to: target) }
                $0.on("/*") { .json("\"\($0.path)\"") }
            }
            try await withMockServer(routes: routes, configuration: configuration) { local in
                let session = try HTTPSession {
                    $0.resolution.unixSockets = ["local.test": path, "alias.test": path]
                }
                do {
                    try await perform(session, local, network)
                    await session.shutdown()
                } catch {
                    await session.shutdown(.immediate)
                    throw error
                }
            }
        }
    }

    @Test func aRedirectFromTheNetworkToASocketIsRefused() async throws {
        try await withServers(location: { _ in "/" }) { session, local, network in
            let error = await #expect(throws: SessionError.self) {
                try await session.call(SessionRequest(url: try network.url("/a"))).response()
            }
            #expect(error?.code == .redirectRefused)
            #expect(error?.message == "The response redirects to local.test, which is on a unix socket.")
            #expect(local.recordedRequests.isEmpty)
        }
    }

    @Test func aCustomTransportRefusesARedirectToASocketToo() async throws {
        try await withServers(location: { _ in "/" }) { session, local, network in
            var configuration = TransportConfiguration()
            configuration.resolution = session.configuration.resolution
            let other = try HTTPSession(transport: try HTTPTransport(configuration))
            let error = await #expect(throws: SessionError.self) {
                try await other.call(SessionRequest(url: try network.url("/a"))).response()
            }
            #expect(error?.code == .redirectRefused)
            #expect(local.recordedRequests.isEmpty)
            await other.shutdown()
        }
    }

    @Test(arguments: ["/there", "http://alias.test/there"])
    func aRedirectToTheSameSocketIsFollowed(location: String) async throws {
        try await withServers(location: { _ in location }) { session, local, _ in
            let response = try await session.call(SessionRequest(url: try local.url("/away"))).response()
            #expect(response.redirects.count == 1)
            #expect(local.recordedRequests.map(\.path) == ["/away", "/there"])
        }
    }

    @Test func aRedirectAwayFromASocketGoesToTheNetwork() async throws {
        try await withServers(location: { "http://127.0.0.1:\($0.port)/a" }) { session, local, network in
            // The network's server redirects back, which is refused.
            let error = await #expect(throws: SessionError.self) {
                try await session.call(SessionRequest(url: try local.url("/away"))).response()
            }
            #expect(error?.code == .redirectRefused)
            #expect(error?.redirects.map(\.target.path) == ["/a"])
            #expect(network.recordedRequests.map(\.path) == ["/a"])
            #expect(local.recordedRequests.map(\.path) == ["/away"])
        }
    }
}
