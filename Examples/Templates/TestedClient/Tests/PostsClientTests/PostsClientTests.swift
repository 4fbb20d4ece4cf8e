import Foundation
import LinnetSession
import LinnetTesting
import LinnetTestingTraits
import PostsClient
import Testing

/// Each test has the server of its trait `.mockServer`, and none may use the network.
@Suite(.withoutNetwork, .leavesNothingOpen) struct PostsClientTests {
    private static let linnet = #"[{"id": 1, "title": "A linnet"}]"#

    /// Gives a test a client of its server.
    private func withClient(
        timeout: Duration = .seconds(10), perform: (PostsClient) async throws -> Void
    ) async throws {
        let client = try PostsClient(baseURL: MockServer.current.url) {
            $0.timeouts.request = timeout
            $0.retryPolicy.backoff.first = .milliseconds(1)
        }
        try await perform(client)
        await client.shutdown()
    }

    @Test(.mockServer(routes: .init { $0.on(.get, "/posts", .json(linnet)) }))
    func postsAreDecoded() async throws {
        try await withClient { client in
            let posts = try await client.posts()
            #expect(posts == [Post(id: 1, title: "A linnet")])
        }
    }

    @Test(.mockServer(routes: .init { $0.on(.post, "/posts") { .json($0.bodyText, status: .created) } }))
    func aPostIsSentAsJSON() async throws {
        try await withClient { client in
            let post = Post(id: 7, title: "A finch")
            let created = try await client.create(post)
            #expect(created == post)
        }
        let request = try await MockServer.current.nextRequest()
        #expect(request.headerFields[.contentType] == "application/json")
    }

    // A test fails unless its script has as many responses as there are requests.
    @Test(.mockServer(script: [.json(linnet).with(.init(.close, at: .responseBody(after: 5))), .json(linnet)]))
    func aResponseThatBreaksOffIsAskedForAgain() async throws {
        try await withClient { client in
            let posts = try await client.posts()
            #expect(posts.count == 1)
        }
    }

    @Test(.mockServer(.json(linnet).with(.init(.stall, at: .responseHead))))
    func aServerThatStallsIsATimeout() async throws {
        try await withClient(timeout: .milliseconds(200)) { client in
            let error = await #expect(throws: SessionError.self) { try await client.posts() }
            #expect(error?.code == .timeout)
        }
    }

    @Test(.mockServer(.json(#"{"posts": []}"#)))
    func aWrongAnswerIsATypedError() async throws {
        try await withClient { client in
            let error = await #expect(throws: SessionError.self) { try await client.posts() }
            #expect(error?.code == .decodingFailed)
        }
    }
}
