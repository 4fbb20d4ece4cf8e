import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

@testable import ExampleApp

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct TimelineClientTests {
    @Test func theEmbeddedServerHasAtLeastFortyPosts() async throws {
        let response = try await fetchFromEmbeddedServer("--page-size", "1000")
        #expect(response.value.count >= 40)
        #expect(Set(response.value.map(\.id)).count == response.value.count)
        #expect(response.value.allSatisfy { !$0.text.isEmpty && $0.user.avatarImage.url.hasPrefix("https://") })
    }

    @Test(arguments: [1, 7, 20])
    func aPageHasTheRequestedNumberOfPosts(size: Int) async throws {
        let response = try await fetchFromEmbeddedServer("--page-size", "\(size)")
        #expect(response.value.count == size)
    }

    @Test func theDefaultPageHasTwentyPosts() async throws {
        #expect(try await fetchFromEmbeddedServer().value.count == 20)
    }

    @Test func morePostsThanRequestedAreDropped() async throws {
        let post = #"{"id":"7","text":"t","user":{"username":"u","avatar_image":{"url":"https://localhost/u.png"}}}"#
        try await withMockServer(.json(#"{"data":[\#(post),\#(post)]}"#)) { server in
            let response = try await TimelineClient.fetch(1, from: server.url, policy: .systemTrust)
            #expect(response.value.map(\.id) == [7])
            #expect(server.recordedRequests.map(\.target) == ["/stream/0/posts/stream/global?count=1"])
        }
    }

    @Test func aTimelineWithoutEndIsRefused() async throws {
        let spaces = String(repeating: " ", count: TimelineClient.maximumBodySize)
        try await withMockServer(.json(#"{"data":[]}"# + spaces)) { server in
            let error = await #expect(throws: SessionError.self) {
                try await TimelineClient.fetch(1, from: server.url, policy: .systemTrust)
            }
            #expect(error?.code == .bodyTooLarge)
        }
    }

    @Test func thePathOfTheBaseURLIsKept() async throws {
        try await withMockServer(.json(#"{"data":[]}"#)) { server in
            let response = try await TimelineClient.fetch(5, from: server.url("/api/v1"), policy: .systemTrust)
            #expect(response.value.isEmpty)
            #expect(server.recordedRequests.map(\.path) == ["/api/v1/stream/0/posts/stream/global"])
        }
    }

    @Test func theEmbeddedServersKeyIsPinned() async throws {
        let metrics = try #require(await fetchFromEmbeddedServer().metrics.last)
        #expect(metrics.isPinned)
        #expect(metrics.tlsVersion == "TLSv1.3")
    }

    @Test func withoutThePinTheChainIsStillVerified() async throws {
        let metrics = try #require(await fetchFromEmbeddedServer("--insecure-no-pin").metrics.last)
        #expect(!metrics.isPinned)
        let server = try await EmbeddedServer.start()
        let plan = try TimelinePlan(arguments: ["--url", server.url.absoluteString, "--insecure-no-pin"])
        await #expect {
            try await TimelineClient.fetch(1, from: server.url, policy: plan.policy(anchors: .system))
        } throws: {
            ($0 as? SessionError)?.trustRefusal?.reason == .unknownAuthority
        }
        await server.shutdown()
    }

    private func fetchFromEmbeddedServer(_ arguments: String...) async throws -> SessionResponse<[Post]> {
        let plan = try TimelinePlan(arguments: arguments)
        let server = try await EmbeddedServer.start()
        do {
            let response = try await TimelineClient.fetch(
                plan.pageSize, from: server.url, policy: server.policy(for: plan))
            await server.shutdown()
            return response
        } catch {
            await server.shutdown()
            throw error
        }
    }
}
