import ArgumentParser
import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

@testable import ExampleApp

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct TimelineClientTests {
    @Test func theEmbeddedServerHasAtLeastFortyPosts() async throws {
        let response = try await fetchFromEmbeddedServer("--page-size", "1000")
        #expect(response.value.data.count >= 40)
        #expect(Set(response.value.data.map(\.id)).count == response.value.data.count)
        #expect(response.value.data.allSatisfy { !$0.text.isEmpty && $0.user.avatarImage.url.scheme == "https" })
    }

    @Test(arguments: [1, 7, 20])
    func aPageHasTheRequestedNumberOfPosts(size: Int) async throws {
        let response = try await fetchFromEmbeddedServer("--page-size", "\(size)")
        #expect(response.value.data.count == size)
    }

    @Test func theDefaultPageHasTwentyPosts() async throws {
        #expect(try await fetchFromEmbeddedServer().value.data.count == 20)
    }

    @Test func pinsNeedHTTPS() throws {
        let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let url = try #require(URL(string: "http://example.com"))
        #expect(throws: SessionError.self) { try TimelineClient(baseURL: url, policy: .publicKeyPins([pin])) }
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
            #expect(response.value.data.isEmpty)
            #expect(server.recordedRequests.map(\.path) == ["/api/v1/stream/0/posts/stream/global"])
        }
    }

    @Test func theEmbeddedServersKeyIsPinned() async throws {
        let metrics = try #require(await fetchFromEmbeddedServer().metrics.last)
        #expect(metrics.isPinned)
        #expect(metrics.tlsVersion == "TLSv1.3")
    }

    @Test func withoutAPinTheChainIsStillVerified() async throws {
        let server = try await EmbeddedServer.start()
        let options = try TimelineOptions.parse(["--url", server.url.absoluteString])
        let trusting = try options.policy(anchors: .certificates([server.root]))
        let metrics = try #require(try await TimelineClient.fetch(1, from: server.url, policy: trusting).metrics.last)
        #expect(!metrics.isPinned)
        await #expect {
            try await TimelineClient.fetch(1, from: server.url, policy: options.policy(anchors: .system))
        } throws: {
            ($0 as? SessionError)?.trustRefusal?.reason == .unknownAuthority
        }
        await server.shutdown()
    }

    private func fetchFromEmbeddedServer(_ arguments: String...) async throws -> SessionResponse<Timeline> {
        let options = try TimelineOptions.parse(arguments)
        let server = try await EmbeddedServer.start()
        do {
            let response = try await TimelineClient.fetch(
                options.pageSize, from: server.url, policy: server.policy(for: options))
            await server.shutdown()
            return response
        } catch {
            await server.shutdown()
            throw error
        }
    }
}
