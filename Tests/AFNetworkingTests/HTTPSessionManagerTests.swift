import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

/// A manager of `http://example.com/api/` over a stub, whose completion queue is its own.
func makeManager(
    _ base: String? = "http://example.com/api", _ transport: StubTransport = StubTransport { _ in .json("{}") },
    configure: (inout HTTPSession.Configuration) -> Void = { _ in }
) -> AFHTTPSessionManager {
    var configuration = HTTPSession.Configuration()
    configure(&configuration)
    let manager = AFHTTPSessionManager(
        baseURL: base.flatMap { URL(string: $0) },
        sessionConfiguration: URLSessionConfiguration(configuration, transport: transport))
    manager.completionQueue = DispatchQueue(label: "linnet.test.completion")
    return manager
}

/// The outcome of a verb.
enum VerbOutcome: Sendable {
    case success(object: String, task: URLSessionDataTask)
    case failure(NSError, task: URLSessionDataTask?)

    var object: String? { if case .success(let object, _) = self { object } else { nil } }
    var error: NSError? { if case .failure(let error, _) = self { error } else { nil } }

    var task: URLSessionDataTask? {
        switch self {
        case .success(_, let task): task
        case .failure(_, let task): task
        }
    }

    /// Starts a verb, and waits for its first outcome.
    static func of(
        _ start: (@escaping AFHTTPSessionManager.SuccessBlock, @escaping AFHTTPSessionManager.FailureBlock) -> Void
    ) async throws -> VerbOutcome {
        let outcomes = EventRecorder<VerbOutcome>()
        start(
            { outcomes.record(.success(object: "\($1 ?? "nil")", task: $0)) },
            { outcomes.record(.failure($1 as NSError, task: $0)) })
        return try await outcomes.wait(count: 1)[0]
    }
}

@Suite(.timeLimit(.minutes(5)))
struct HTTPSessionManagerTests {
    @Test func aVerbSendsItsParametersAndCallsSuccess() async throws {
        let transport = StubTransport { _ in .json(#"{"id": 7}"#) }
        let manager = makeManager("http://example.com/api", transport)
        let got = EventRecorder<Int>()
        let started = manager.get(
            "posts", parameters: ["page": 1, "tags": ["a", "b"]] as [String: Any], headers: ["X-Own": "1"],
            success: { _, object in got.record((object as? [String: Any])?["id"] as? Int ?? -1) })
        let task = try #require(started)
        #expect(try await got.wait(count: 1) == [7])
        let head = try #require(transport.requests.first?.head)
        #expect(head.method == .get && head.path == "/api/posts?page=1&tags%5B%5D=a&tags%5B%5D=b")
        let own = try #require(HTTPField.Name("X-Own"))
        #expect(head.headerFields[values: own] == ["1"])
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(task.state == .completed && task.taskIdentifier == 1 && task.error == nil)
        #expect(task.originalRequest?.url?.path() == "/api/posts")
        #expect(manager.tasks.isEmpty)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "HEAD"])
    func eachVerbHasItsMethodAndPlaceForParameters(_ method: String) async throws {
        let transport = StubTransport { _ in .json("{}") }
        let manager = makeManager("http://example.com/api/", transport)
        let parameters = ["a": "b c"]
        _ = try await VerbOutcome.of { success, failure in
            switch method {
            case "POST": manager.post("x", parameters: parameters, success: success, failure: failure)
            case "PUT": manager.put("x", parameters: parameters, success: success, failure: failure)
            case "PATCH": manager.patch("x", parameters: parameters, success: success, failure: failure)
            case "DELETE": manager.delete("x", parameters: parameters, success: success, failure: failure)
            default: manager.head("x", parameters: parameters, success: { success($0, nil) }, failure: failure)
            }
        }
        let request = try #require(transport.requests.first)
        let isInURL = method == "DELETE" || method == "HEAD"
        #expect(request.head.method.rawValue == method)
        #expect(request.head.path == (isInURL ? "/api/x?a=b%20c" : "/api/x"))
        #expect(request.body == (isInURL ? Data() : Data("a=b%20c".utf8)))
        #expect(request.head.headerFields[.contentType] == (isInURL ? nil : "application/x-www-form-urlencoded"))
    }

    @Test func jsonIsWrittenByItsSerializer() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let manager = makeManager("http://example.com/api/", transport)
        manager.requestSerializer = AFJSONRequestSerializer()
        _ = try await VerbOutcome.of {
            manager.post("x", parameters: ["a": [1, true, NSNull()] as [Any]], success: $0, failure: $1)
        }
        let request = try #require(transport.requests.first)
        #expect(request.body == Data(#"{"a":[1,true,null]}"#.utf8))
        #expect(request.head.headerFields[.contentType] == "application/json")
    }

    @Test func aFormHasItsParametersAndParts() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let manager = makeManager("http://example.com/api/", transport)
        let outcome = try await VerbOutcome.of {
            manager.post(
                "x", parameters: ["author": "Ada"],
                constructingBodyWith: { data in
                    data.appendPart(
                        withFileData: Data("bytes".utf8), name: "file", fileName: "a.txt", mimeType: "text/plain")
                    data.appendPart(withForm: Data("form".utf8), name: "note")
                }, success: $0, failure: $1)
        }
        #expect(outcome.task is URLSessionUploadTask)
        let request = try #require(transport.requests.first)
        let text = String(decoding: request.body, as: UTF8.self)
        #expect(request.head.headerFields[.contentType]?.hasPrefix("multipart/form-data; boundary=") == true)
        for part in ["Ada", "filename=\"a.txt\"", "bytes", "form"] { #expect(text.contains(part)) }
    }

    @Test func aRefusedStatusIsAnErrorWithTheResponseAndTheBody() async throws {
        let manager = makeManager("http://example.com/", StubTransport { _ in .json(#"{"why": 1}"#, status: 404) })
        let outcome = try await VerbOutcome.of { manager.get("x", success: $0, failure: $1) }
        let error = try #require(outcome.error)
        #expect(error.domain == AFURLResponseSerializationErrorDomain && error.code == NSURLErrorBadServerResponse)
        let response = error.userInfo[AFNetworkingOperationFailingURLResponseErrorKey] as? HTTPURLResponse
        #expect(response?.statusCode == 404)
        let body = error.userInfo[AFNetworkingOperationFailingURLResponseDataErrorKey] as? Data
        #expect(body == Data(#"{"why": 1}"#.utf8))
        #expect(outcome.task != nil)
    }

    @Test func aRequestThatCannotBeMadeFailsWithoutATask() async throws {
        let manager = makeManager()
        manager.requestSerializer.setQueryStringSerializationWith { _, _, error in
            error?.pointee = NSError(domain: "own", code: 5)
            return nil
        }
        let returned = EventRecorder<Bool>()
        let outcome = try await VerbOutcome.of {
            let task = manager.get("x", parameters: ["a": 1], success: $0, failure: $1)
            returned.record(task == nil)
        }
        #expect(returned.events == [true])
        #expect(outcome.error?.domain == "own" && outcome.error?.code == 5 && outcome.task == nil)
    }

    @Test(arguments: [(1, "a"), (2, "b")])
    func aCancelledTaskFailsOnceWithAFNetworkingsCode(_ row: (Int, String)) async throws {
        let arrived = Signal()
        let release = Signal()
        let manager = makeManager(
            "http://example.com/",
            StubTransport { _ in
                arrived.fire()
                await release.wait()
                return .json("{}")
            })
        let errors = EventRecorder<NSError>()
        let started = manager.get(row.1, failure: { errors.record($1 as NSError) })
        let task = try #require(started)
        await arrived.wait()
        if row.0 == 1 { task.cancel() } else { manager.downloadProgress(for: task)?.cancel() }
        #expect(try await errors.wait(count: 1).map(\.code) == [NSURLErrorCancelled])
        #expect(errors.events.first?.domain == NSURLErrorDomain)
        release.fire()
        #expect(task.state == .completed)
    }

    @Test func theSerializersCredentialsStayAtTheBaseURLsOrigin() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let manager = makeManager("http://example.com/api/", transport)
        manager.requestSerializer.setAuthorizationHeaderFieldWithUsername("ada", password: "linnet")
        for path in ["x", "http://example.com/y", "http://other.example/z"] {
            _ = try await VerbOutcome.of { manager.get(path, success: $0, failure: $1) }
        }
        _ = try await VerbOutcome.of {
            manager.get("http://other.example/z", headers: ["Authorization": "own"], success: $0, failure: $1)
        }
        let sent = transport.requests.map { $0.head.headerFields[.authorization] }
        let basic = HTTPFields.basicAuthorization(username: "ada", password: "linnet")
        #expect(sent == [basic, basic, nil, "own"])
    }

    @Test func completionComesOnTheMainQueueByDefault() async throws {
        let key = DispatchSpecificKey<Int>()
        DispatchQueue.main.setSpecific(key: key, value: 4)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        let manager = makeManager()
        manager.completionQueue = nil
        let queues = EventRecorder<Int>()
        manager.get("x", success: { _, _ in queues.record(DispatchQueue.getSpecific(key: key) ?? 0) })
        #expect(try await queues.wait(count: 1) == [4])
    }

    @Test func theNotificationComesAfterTheHandlerAndHasAllKeys() async throws {
        let manager = makeManager("http://example.com/", StubTransport { _ in .json("[1]") })
        let calls = EventRecorder<String>()
        let made = manager.dataTask(
            withHTTPMethod: "GET", urlString: "x", success: { _, _ in calls.record("success") })
        let task = try #require(made)
        let center = NotificationCenter.default
        let names: [(NSNotification.Name, String)] = [
            (.AFNetworkingTaskDidResume, "resume"), (.AFNetworkingTaskDidSuspend, "suspend"),
        ]
        var tokens = names.map { name, text in
            center.addObserver(forName: name, object: task, queue: nil) { _ in calls.record(text) }
        }
        tokens.append(
            center.addObserver(forName: .AFNetworkingTaskDidComplete, object: task, queue: nil) { notification in
                let info = notification.userInfo ?? [:]
                let isWhole =
                    info[AFNetworkingTaskDidCompleteResponseDataKey] as? Data == Data("[1]".utf8)
                    && info[AFNetworkingTaskDidCompleteResponseSerializerKey] is AFJSONResponseSerializer
                    && info[AFNetworkingTaskDidCompleteSerializedResponseKey] is [Any]
                    && info[AFNetworkingTaskDidCompleteErrorKey] == nil
                    && info[AFNetworkingTaskDidCompleteSessionTaskMetrics] is [Any]
                calls.record(isWhole ? "complete" : "incomplete")
            })
        defer { for token in tokens { center.removeObserver(token) } }
        task.resume()
        let all = try await calls.wait { $0.contains("complete") || $0.contains("incomplete") }
        #expect(all == ["resume", "success", "complete"] || all == ["success", "resume", "complete"])
    }

    @Test func aGroupWaitsForWhatRuns() async throws {
        let release = Signal()
        let manager = makeManager(
            "http://example.com/",
            StubTransport { _ in
                await release.wait()
                return .json("{}")
            })
        let group = DispatchGroup()
        manager.completionGroup = group
        let calls = EventRecorder<String>()
        for _ in 0..<3 { manager.get("x", success: { _, _ in calls.record("success") }) }
        group.notify(queue: .global()) { calls.record("group") }
        #expect(calls.events.isEmpty)
        release.fire()
        #expect(try await calls.wait(count: 4) == ["success", "success", "success", "group"])
    }

    @Test func aTaskThatIsDroppedBeforeItRunsCallsItsHandler() async throws {
        let manager = makeManager()
        let codes = EventRecorder<Int>()
        _ = manager.dataTask(withHTTPMethod: "GET", urlString: "x", failure: { codes.record(($1 as NSError).code) })
        #expect(try await codes.wait(count: 1) == [NSURLErrorCancelled])
        #expect(manager.tasks.isEmpty)
    }

    @Test func managersThatAreDroppedLeaveNothing() async throws {
        weak var last: AFHTTPSessionManager?
        let calls = EventRecorder<Void>()
        for _ in 0..<1_000 {
            let manager = makeManager()
            manager.setDataTaskDidReceiveData { [weak manager] _, _, _ in _ = manager }
            manager.get("x", success: { [manager] _, _ in calls.record(withExtendedLifetime(manager) {}) })
            last = manager
        }
        try await calls.wait(count: 1_000)
        while last != nil, !Task.isCancelled { await Task.yield() }
        #expect(last == nil)
    }

    @Test func aSubclassIsAClientOfItsOwn() async throws {
        final class Client: AFHTTPSessionManager, @unchecked Sendable {
            override func get(
                _ URLString: String, parameters: Any?, headers: [String: String]?, progress: ProgressBlock?,
                success: SuccessBlock?, failure: FailureBlock?
            ) -> URLSessionDataTask? {
                super.get(
                    "v1/" + URLString, parameters: parameters, headers: headers, progress: progress, success: success,
                    failure: failure)
            }
        }
        let transport = StubTransport { _ in .json("{}") }
        let client = Client(
            baseURL: URL(string: "http://example.com"),
            sessionConfiguration: URLSessionConfiguration(HTTPSession.Configuration(), transport: transport))
        client.completionQueue = .global()
        _ = try await VerbOutcome.of {
            _ = client.get("x", parameters: nil, headers: nil, progress: nil, success: $0, failure: $1)
        }
        #expect(transport.requests.first?.head.path == "/v1/x")
        let copy = try #require(client.copy() as? Client)
        #expect(copy.baseURL == client.baseURL && copy !== client)
    }
}
