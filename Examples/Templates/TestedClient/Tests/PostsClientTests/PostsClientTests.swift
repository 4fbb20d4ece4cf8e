import Foundation
import LinnetSession
import LinnetTesting
import PostsClient
import Testing

@Suite struct PostsClientTests {
    private let linnet = #"[{"id": 1, "title": "A linnet"}]"#

    /// Gives a test a client of a server.
    private func withClient(
        of server: MockServer, timeout: Duration = .seconds(10), perform: (PostsClient) async throws -> Void
    ) async throws {
        let client = try PostsClient(baseURL: server.url) {
            $0.timeouts.request = timeout
            $0.retryPolicy.backoff.first = .milliseconds(1)
        }
        try await perform(client)
        await client.shutdown()
    }

    @Test func postsAreDecoded() async throws {
        try await withMockServer(.json(linnet)) { server in
            try await withClient(of: server) { client in
                let posts = try await client.posts()
                #expect(posts == [Post(id: 1, title: "A linnet")])
            }
            #expect(server.recordedRequests.map(\.path) == ["/posts"])
        }
    }

    @Test func aPostIsSentAsJSON() async throws {
        let routes = MockServer.Routes {
            $0.on(.post, "/posts") { request in .json(request.bodyText, status: .created) }
        }
        try await withMockServer(routes: routes) { server in
            try await withClient(of: server) { client in
                let post = Post(id: 7, title: "A finch")
                let created = try await client.create(post)
                #expect(created == post)
            }
        }
    }

    @Test func aResponseThatBreaksOffIsAskedForAgain() async throws {
        let broken = MockResponse.json(linnet).with(.init(.close, at: .responseBody(after: 5)))
        try await withMockServer(MockServer.Script([broken, .json(linnet)])) { server in
            try await withClient(of: server) { client in
                let posts = try await client.posts()
                #expect(posts.count == 1)
            }
            #expect(server.recordedRequests.count == 2)
        }
    }

    @Test func aServerThatStallsIsATimeout() async throws {
        try await withMockServer(MockResponse.json(linnet).with(.init(.stall, at: .responseHead))) { server in
            try await withClient(of: server, timeout: .milliseconds(200)) { client in
                let error = await #expect(throws: SessionError.self) { try await client.posts() }
                #expect(error?.code == .timeout)
            }
        }
    }

    @Test func aWrongAnswerIsATypedError() async throws {
        try await withMockServer(.json(#"{"posts": []}"#)) { server in
            try await withClient(of: server) { client in
                let error = await #expect(throws: SessionError.self) { try await client.posts() }
                #expect(error?.code == .decodingFailed)
            }
        }
    }
}
