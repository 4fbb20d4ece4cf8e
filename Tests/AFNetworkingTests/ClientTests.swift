import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

/// Clients in AFNetworking's style, against the embedded server.
@Suite(.timeLimit(.minutes(5)))
struct ClientTests {
    @Test func theTimelineOfTheArticlesIsShown() async throws {
        let text = """
            {"data": [{"id": 7, "text": "Hello", "user": {"id": "3", "username": "ada", \
            "avatar_image": {"url": "https://example.com/ada.png"}}}, {"id": 8, "text": "World"}]}
            """
        let handler: MockServer.Handler = { request in
            request.path == "/stream/0/posts/stream/global" ? .json(text) : MockResponse(status: .notFound)
        }
        try await withMockServer(handler: handler) { server in
            let client = AppDotNetAPIClient.client(for: server.url)
            let shown = EventRecorder<String>()
            let task = Post.globalTimelinePosts(client: client) { posts, error in
                shown.record(posts.map { "\($0.postID) \($0.text) \($0.user.username)" }.joined(separator: ", "))
                if posts.first?.user.userID != 3 || posts.first?.user.avatarImageURL == nil || error != nil {
                    shown.record("wrong")
                }
            }
            await MainActor.run {
                let refresh = RefreshState()
                refresh.setRefreshingWithStateOf(task)
            }
            let posts = try await shown.wait(count: 1)
            #expect(posts == ["7 Hello ada, 8 World "])
            #expect(server.recordedRequests.first?.headerFields[.cacheControl] == "no-cache")
            client.invalidateSessionCancelingTasks(true, resetSession: false)
        }
    }

    @Test func aLoginsTokenIsSentAfterwards() async throws {
        let handler: MockServer.Handler = { request in
            switch request.path {
            case "/login": .json(#"{"token": "abc"}"#)
            default:
                request.headerFields[.authorization] == "Bearer abc" ? .json("[]") : MockResponse(status: .unauthorized)
            }
        }
        try await withMockServer(handler: handler) { server in
            let client = SessionClient(baseURL: server.url)
            client.completionQueue = DispatchQueue(label: "linnet.test.client")
            let before = try await VerbOutcome.of { client.get("posts", success: $0, failure: $1) }
            #expect((before.task?.response as? HTTPURLResponse)?.statusCode == 401)
            let logins = EventRecorder<Bool>()
            client.login("ada", "linnet") { logins.record($0) }
            #expect(try await logins.wait(count: 1) == [true])
            #expect(try await VerbOutcome.of { client.get("posts", success: $0, failure: $1) }.error == nil)
            client.invalidateSessionCancelingTasks(true, resetSession: false)
        }
    }

    @Test func aPictureIsUploadedWithProgress() async throws {
        try await withScratchFolder { folder in
            try makeBytes(300_000).write(to: folder["picture.png"])
            try await withMockServer(handler: { request in .json("\(request.body.count > 300_000)") }) { server in
                let client = AFHTTPSessionManager(baseURL: server.url)
                client.completionQueue = DispatchQueue(label: "linnet.test.client")
                client.responseSerializer = AFJSONResponseSerializer(readingOptions: .fragmentsAllowed)
                let fractions = EventRecorder<Double>()
                let outcome = try await VerbOutcome.of {
                    client.post(
                        "upload", parameters: ["album": "birds"], headers: nil,
                        constructingBodyWith: { data in
                            try? data.appendPart(withFileURL: folder["picture.png"], name: "picture")
                        }, progress: { fractions.record($0.fractionCompleted) }, success: $0, failure: $1)
                }
                #expect(outcome.object == "true" || outcome.object == "1")
                #expect(fractions.events.last == 1)
                let body = String(decoding: server.recordedRequests.first?.body.prefix(600) ?? Data(), as: UTF8.self)
                #expect(
                    body.contains("birds") && body.contains("filename=\"picture.png\"") && body.contains("image/png"))
                client.invalidateSessionCancelingTasks(true, resetSession: false)
            }
        }
    }
}

@MainActor
@Suite(.timeLimit(.minutes(5)))
struct ActivityIndicatorManagerTests {
    @Test func theDefaultsAreAFNetworkings() {
        let manager = AFNetworkActivityIndicatorManager()
        #expect(!manager.isEnabled && manager.activationDelay == 1 && abs(manager.completionDelay - 0.17) < 1e-9)
        #expect(manager.currentState == .notActive && !manager.isNetworkActivityIndicatorVisible)
        #expect(AFNetworkActivityIndicatorManager.shared() === AFNetworkActivityIndicatorManager.shared())
    }

    @Test func theActionIsCalledAsActivitiesBeginAndEnd() async throws {
        let manager = AFNetworkActivityIndicatorManager(indicator: NetworkActivityIndicator(following: []))
        manager.activationDelay = 0
        manager.completionDelay = 0
        manager.isEnabled = true
        let calls = EventRecorder<Bool>()
        manager.setNetworkingActivityActionWith { calls.record($0) }
        manager.incrementActivityCount()
        manager.incrementActivityCount()
        try await calls.wait(count: 1)
        manager.decrementActivityCount()
        manager.decrementActivityCount()
        #expect(try await calls.wait(count: 2) == [true, false])
    }
}
