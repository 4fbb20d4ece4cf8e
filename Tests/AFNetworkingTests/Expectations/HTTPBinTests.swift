import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

/// The clients of this module and the expectations of AFNetworking's own tests, against httpbin.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["LINNET_TEST_HTTPBIN"] != nil,
        "httpbin is not running: use `make test`, or Tests/IntegrationTests/Servers/with swift test"),
    .timeLimit(.minutes(2)))
struct HTTPBinTests {
    private func base() throws -> URL {
        try #require(ProcessInfo.processInfo.environment["LINNET_TEST_HTTPBIN"].flatMap { URL(string: $0) })
    }

    private func manager() throws -> AFHTTPSessionManager {
        let manager = AFHTTPSessionManager(baseURL: try base())
        manager.completionQueue = DispatchQueue(label: "linnet.test.completion")
        return manager
    }

    /// What httpbin says of a request.
    private func echo(
        _ start: (@escaping AFHTTPSessionManager.SuccessBlock, @escaping AFHTTPSessionManager.FailureBlock) -> Void
    ) async throws -> [String: String] {
        let texts = EventRecorder<[String: String]>()
        start(
            { _, object in
                let object = object as? [String: Any] ?? [:]
                var text: [String: String] = [:]
                for (name, value) in object { text[name] = "\(value)" }
                texts.record(text)
            },
            { _, error in texts.record(["error": "\((error as NSError).code)"]) })
        return try await texts.wait(count: 1)[0]
    }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
    func aVerbIsEchoedWithItsFieldAndParameters(verb: String) async throws {
        let manager = try manager()
        manager.requestSerializer.setValue("default value", forHTTPHeaderField: "Field")
        let (parameters, headers) = (["key": "value"], ["Field": "own"])
        let said = try await echo { success, failure in
            switch verb {
            case "GET": manager.get("get", parameters: parameters, headers: headers, success: success, failure: failure)
            case "POST":
                manager.post("post", parameters: parameters, headers: headers, success: success, failure: failure)
            case "PUT": manager.put("put", parameters: parameters, headers: headers, success: success, failure: failure)
            case "PATCH":
                manager.patch("patch", parameters: parameters, headers: headers, success: success, failure: failure)
            default:
                manager.delete("delete", parameters: parameters, headers: headers, success: success, failure: failure)
            }
        }
        let place = verb == "GET" || verb == "DELETE" ? "args" : "form"
        #expect(said[place]?.contains("value") == true && said["headers"]?.contains("own") == true)
        #expect(said["headers"]?.contains("default value") == false)
    }

    @Test(arguments: [("status/200", 200, 0), ("status/404", 404, NSURLErrorBadServerResponse), ("get", 200, 0)])
    func theStatusDecidesBetweenSuccessAndFailure(_ row: (path: String, status: Int, code: Int)) async throws {
        let manager = try manager()
        if row.path != "get" { manager.responseSerializer = AFHTTPResponseSerializer() }
        let outcome = try await VerbOutcome.of { manager.get(row.path, success: $0, failure: $1) }
        #expect((outcome.task?.response as? HTTPURLResponse)?.statusCode == row.status)
        #expect((outcome.error?.code ?? 0) == row.code)
        let head = try await VerbOutcome.of { success, failure in
            manager.head(row.path, success: { success($0, nil) }, failure: failure)
        }
        #expect((head.error?.code ?? 0) == row.code)
    }

    @Test func aFormIsUploadedWithProgress() async throws {
        let manager = try manager()
        let fractions = EventRecorder<Double>()
        let said = try await echo { success, failure in
            manager.post(
                "post", parameters: ["key": "value"], headers: ["field": "value"],
                constructingBodyWith: { form in
                    form.appendPart(
                        withFileData: makeBytes(30_000), name: "DataName", fileName: "DataFileName",
                        mimeType: "application/octet-stream")
                }, progress: { fractions.record($0.fractionCompleted) }, success: success, failure: failure)
        }
        #expect(said["files"]?.contains("DataName") == true && said["form"]?.contains("value") == true)
        try await fractions.wait { $0.last == 1 }
    }

    @Test func basicCredentialsAreSentByHeaderOrAfterAChallenge() async throws {
        let manager = try manager()
        manager.requestSerializer.setAuthorizationHeaderFieldWithUsername("user", password: "password")
        let hidden = try await echo { manager.get("hidden-basic-auth/user/password", success: $0, failure: $1) }
        #expect(hidden["authenticated"] == "1" || hidden["authenticated"] == "true")
        manager.requestSerializer.clearAuthorizationHeader()
        manager.setAuthenticationChallengeHandler { _, _, challenge, _ -> Any? in
            challenge.protectionSpace.realm == "Fake Realm"
                ? URLCredential(user: "user", password: "passwd", persistence: .none) : nil
        }
        // Stricter than AFNetworking: a password that a handler returns is not sent by Basic in clear text.
        let asked = try await echo { manager.get("basic-auth/user/passwd", success: $0, failure: $1) }
        #expect(asked["error"] == "\(NSURLErrorBadServerResponse)")
    }

    @Test func aRedirectAsksTheBlock() async throws {
        let manager = try manager()
        let asked = EventRecorder<String>()
        manager.setTaskWillPerformHTTPRedirection { _, _, _, request in
            asked.record(request.url?.path() ?? "")
            return request
        }
        let said = try await echo { manager.get("redirect/1", success: $0, failure: $1) }
        #expect(said["url"] != nil && asked.events == ["/get"])
    }

    @Test func anImageIsDownloadedToAFileAndToAView() async throws {
        let manager = try manager()
        let url = try base().appending(path: "image/png")
        try await withScratchFolder { folder in
            let files = EventRecorder<URL?>()
            let task = manager.downloadTask(
                with: URLRequest(url: url), progress: nil, destination: { _, _ in folder["image.png"] },
                completionHandler: { _, file, _ in files.record(file) })
            task.resume()
            let file = try #require(try await files.wait(count: 1)[0])
            #expect(try Data(contentsOf: file).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }
        let downloader = AFImageDownloader(sessionConfiguration: .default)
        downloader.sessionManager.completionQueue = DispatchQueue(label: "linnet.test.completion")
        let sizes = EventRecorder<Int>()
        downloader.downloadImage(for: URLRequest(url: url), success: { _, _, image in sizes.record(image.byteCount) })
        #expect(try await sizes.wait(count: 1)[0] > 1_000)
    }

    @Test func theClientsOfTheArticlesWork() async throws {
        let client = AppDotNetAPIClient.client(for: try base())
        client.completionQueue = DispatchQueue(label: "linnet.test.completion")
        let shown = EventRecorder<Int>()
        Post.globalTimelinePosts(client: client) { posts, error in shown.record(error == nil ? posts.count : -1) }
        // httpbin has no timeline: the failure is told once.
        #expect(try await shown.wait(count: 1) == [-1])
        let login = SessionClient(baseURL: try base())
        login.completionQueue = DispatchQueue(label: "linnet.test.completion")
        let logins = EventRecorder<Bool>()
        login.login("ada", "linnet") { logins.record($0) }
        #expect(try await logins.wait(count: 1) == [false])
        login.requestSerializer.setValue("Bearer abc", forHTTPHeaderField: "Authorization")
        let bearer = try await echo { login.get("bearer", success: $0, failure: $1) }
        #expect(bearer["token"] == "abc")
    }
}
