import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

// The httpbin endpoints of AFNetworking's own tests, with their expectations. The statuses, content types and bodies of
// the same endpoints are checked in the other suites.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct AFNetworkingExpectationTests {
    @Test(arguments: Surface.allCases)
    func theHookIsCalledForARedirect(surface: Surface) async throws {
        let asked = EventRecorder<String>()
        try await Server.httpbin.withSession {
            $0.hooks.willRedirect = { _, redirect, request in
                asked.record("\(redirect.status.code) \(request.url.path)")
                return .follow(request)
            }
        } run: { session in
            let response = try await surface.send(.get, "redirect/1", on: session)
            #expect(response.value?["url"] != nil)
            #expect(asked.events == ["302 /get"])
        }
    }

    @Test(arguments: ["image", "bytes/1048576", "image/jpeg"])
    func downloadProgressReachesTheTotal(path: String) async throws {
        try await Server.httpbin.withSession { session in
            let task = session.call(.get, path).headers([.accept: "image/*"]).task()
            let fractions = EventRecorder<Double?>()
            task.onProgress { fractions.record($0.download.fraction) }
            task.resume()
            let response = try await task.value
            #expect(task.progress.download.fraction == 1)
            #expect(task.progress.download.completed == Int64(response.data.count))
            try await fractions.wait { $0.last == 1 }
        }
    }

    @Test func uploadProgressReachesTheTotal() async throws {
        try await Server.httpbin.withSession { session in
            let text = String(repeating: "a", count: 20_000)
            let task = session.call(.post, "post", ["key": text]).jsonTask()
            task.resume()
            let response = try await task.value
            #expect(response.value?["form"]?["key"]?.string?.count == 20_000)
            #expect(task.progress.upload.fraction == 1)
        }
    }

    @Test func aRequestsHeaderFieldReplacesOneDefaultAndKeepsAnother() async throws {
        try await Server.httpbin.withSession {
            var serializer = FormRequestSerializer()
            try serializer.headerFields.set("default value", forName: "Default-Header")
            try serializer.headerFields.set("kept", forName: "Other-Header")
            $0.requestSerializer = serializer
        } run: { session in
            var headers = HTTPFields()
            try headers.set("own", forName: "Default-Header")
            let fields = try await session.get("headers").headers(headers).json()?["headers"]
            #expect(fields?["Default-Header"] == "own")
            #expect(fields?["Other-Header"] == "kept")
        }
    }

    @Test func aDownloadIsSavedAtItsDestination() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "linnet-af-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: file) }
        try await Server.httpbin.withSession { session in
            let response = try await session.get("image/png").download(to: file)
            #expect(try Data(contentsOf: response.value).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }
    }

    @Test func metricsAreCollectedAtTheEnd() async throws {
        let metrics = EventRecorder<Int>()
        try await Server.httpbin.withSession {
            $0.hooks.didCollectMetrics = { _, all in metrics.record(all.count) }
        } run: { session in
            _ = try await session.get("get").response(JSONResponseSerializer())
            try await metrics.wait(count: 1)
            #expect(metrics.events == [1])
        }
    }

    @Test(arguments: Surface.allCases)
    func aChallengeIsAnsweredWithACredential(surface: Surface) async throws {
        try await Server.httpbin.withSession {
            $0.hooks.didReceiveChallenge = { _, attempt in
                attempt.challenges.first?.realm == "Fake Realm"
                    ? .use(try .basic(username: "user", password: "passwd")) : .cancel
            }
        } run: { session in
            let response = try await surface.send(.get, "basic-auth/user/passwd", on: session)
            #expect(response.value == ["authenticated": true, "user": "user"])
        }
    }

    @Test func resumeAndSuspendPostNotifications() async throws {
        var options = RequestOptions()
        options.tag = "AFNetworking \(UInt64.random(in: 0 ... .max))"
        let tag = options.tag
        let names = EventRecorder<String>()
        let observation = TaskNotifications.observe(on: .serial()) { notification in
            guard notification.request?.options.tag == tag else { return }
            switch notification.kind {
            case .didResume: names.record("resume")
            case .didSuspend: names.record("suspend")
            case .didComplete: names.record("complete")
            }
        }
        defer { observation.cancel() }
        try await Server.httpbin.withSession { session in
            let task = session.call(.get, "delay/1").options(options).jsonTask()
            task.resume()
            task.suspend()
            task.resume()
            _ = try await task.value
            try await names.wait(count: 4)
            #expect(names.events == ["resume", "suspend", "resume", "complete"])
        }
    }
}
