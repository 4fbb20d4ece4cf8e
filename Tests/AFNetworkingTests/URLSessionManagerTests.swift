import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetCache
import LinnetTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct URLSessionManagerTests {
    /// The outcome of a task.
    struct Outcome: Sendable {
        let status: Int?
        let text: String?
        let file: URL?
        let error: NSError?

        init(_ response: URLResponse, _ object: Any?, _ error: (any Error)?) {
            status = (response as? HTTPURLResponse)?.statusCode
            text = (object as? Data).map { String(decoding: $0, as: UTF8.self) }
            file = object as? URL
            self.error = error as NSError?
        }
    }

    private let outcomes = EventRecorder<Outcome>()

    private func manager(
        _ transport: StubTransport, configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) -> AFURLSessionManager {
        var configuration = HTTPSession.Configuration()
        configuration.progressInterval = .zero
        configure(&configuration)
        let manager = AFURLSessionManager(
            sessionConfiguration: URLSessionConfiguration(configuration, transport: transport))
        manager.responseSerializer = AFHTTPResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "linnet.test.completion")
        return manager
    }

    private func request(_ path: String = "x", method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://example.com/" + path)))
        request.httpMethod = method
        return request
    }

    private var record: AFURLSessionManager.CompletionBlock {
        { [outcomes] in outcomes.record(Outcome($0, $1, $2)) }
    }

    private func outcome() async throws -> Outcome { try await outcomes.wait(count: 1)[0] }

    @Test func aTaskWaitsUntilItIsResumed() async throws {
        let transport = StubTransport { _ in .status(200, body: Data("body".utf8)) }
        let manager = manager(transport)
        let progress = EventRecorder<Int64>()
        let task = manager.dataTask(
            with: try request(), uploadProgress: nil, downloadProgress: { progress.record($0.completedUnitCount) },
            completionHandler: record
        )
        #expect(task.state == .suspended && manager.tasks == [task] && manager.dataTasks == [task])
        #expect(manager.uploadTasks.isEmpty && manager.downloadTasks.isEmpty && transport.requests.isEmpty)
        task.resume()
        let outcome = try await outcome()
        #expect(outcome.status == 200 && outcome.text == "body" && outcome.error == nil)
        #expect(progress.events.last == 4 && task.countOfBytesReceived == 4 && task.countOfBytesExpectedToReceive == 4)
        #expect(manager.tasks.isEmpty && manager.downloadProgress(for: task) == nil)
    }

    @Test(arguments: ["data", "file", "stream"])
    func anUploadSendsItsBody(kind: String) async throws {
        let transport = StubTransport { _ in .status(201) }
        let manager = manager(transport)
        try await withScratchFolder { folder in
            let bytes = Data("bytes".utf8)
            try bytes.write(to: folder["file"])
            var request = try request(method: "PUT")
            let last = EventRecorder<Int64>()
            let progress: AFURLSessionManager.ProgressBlock = { last.record($0.completedUnitCount) }
            let task: URLSessionUploadTask
            switch kind {
            case "data":
                task = manager.uploadTask(with: request, from: bytes, progress: progress, completionHandler: record)
            case "file":
                task = manager.uploadTask(
                    with: request, fromFile: folder["file"], progress: progress, completionHandler: record)
            default:
                request.httpBody = bytes
                task = manager.uploadTask(withStreamedRequest: request, progress: progress, completionHandler: record)
            }
            #expect(manager.uploadTasks == [task] && manager.dataTasks.isEmpty)
            task.resume()
            #expect(try await outcome().status == 201)
            #expect(transport.requests.first?.body == bytes && last.events.last == 5 && task.countOfBytesSent == 5)
        }
    }

    @Test func aFileThatCannotBeReadFailsTheTask() async throws {
        let manager = manager(StubTransport())
        let task = manager.uploadTask(
            with: try request(method: "PUT"), fromFile: URL(filePath: "/nowhere/file"), progress: nil,
            completionHandler: record)
        #expect(outcomes.events.isEmpty)
        task.resume()
        let outcome = try await outcome()
        #expect(outcome.error?.domain == NSURLErrorDomain && outcome.status == nil)
        #expect(task.state == .completed)
    }

    @Test func aRequestThatCannotBeSentFailsTheTask() async throws {
        let transport = StubTransport()
        let manager = manager(transport)
        var request = try request()
        request.setValue("a\r\nX: 1", forHTTPHeaderField: "X-A")
        manager.dataTask(with: request, completionHandler: record).resume()
        #expect(try await outcome().error?.code == NSURLErrorBadURL)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [true, false])
    func aDownloadIsAtItsDestinationOrKept(hasDestination: Bool) async throws {
        let manager = manager(StubTransport { _ in .status(200, body: Data("abc".utf8)) })
        try await withScratchFolder { folder in
            let destination: AFURLSessionManager.DestinationBlock = { _, _ in folder["chosen"] }
            let task = manager.downloadTask(
                with: try request(), progress: nil, destination: hasDestination ? destination : nil,
                completionHandler: { self.record($0, $1, $2) })
            let moved = EventRecorder<Void>()
            let token = NotificationCenter.default.addObserver(
                forName: .AFURLSessionDownloadTaskDidMoveFileSuccessfully, object: task, queue: nil
            ) { _ in moved.record(()) }
            defer { NotificationCenter.default.removeObserver(token) }
            task.resume()
            let file = try #require(try await outcome().file)
            #expect(try Data(contentsOf: file) == Data("abc".utf8))
            #expect((file.lastPathComponent == "chosen") == hasDestination)
            try await moved.wait(count: 1)
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test func anErrorPageIsNeverAtTheDestination() async throws {
        let manager = manager(StubTransport { _ in .status(404, body: Data("page".utf8)) })
        let chosen = EventRecorder<Void>()
        let task = manager.downloadTask(
            with: try request(), progress: nil,
            destination: { file, _ in
                chosen.record(())
                return file
            }, completionHandler: { self.record($0, $1, $2) })
        task.resume()
        let outcome = try await outcome()
        #expect(outcome.status == 404 && outcome.file == nil)
        #expect(outcome.error?.domain == AFURLResponseSerializationErrorDomain)
        #expect(outcome.error?.code == NSURLErrorBadServerResponse && chosen.events.isEmpty)
    }

    @Test func aRedirectIsFollowedAsTheBlockSays() async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(302, headerFields: [.location: "/b"]) : .status(200)
        }
        let manager = manager(transport)
        manager.setTaskWillPerformHTTPRedirection { _, task, response, request in
            #expect((response as? HTTPURLResponse)?.statusCode == 302 && task.taskIdentifier == 1)
            var request = request
            request.setValue("1", forHTTPHeaderField: "X-A")
            return request
        }
        let task = manager.dataTask(with: try request("a"), completionHandler: record)
        task.resume()
        #expect(try await outcome().status == 200)
        #expect(transport.requests.last?.head.path == "/b" && task.currentRequest?.url?.path() == "/b")
        #expect(transport.requests.last?.head.headerFields.contains { $0.name.rawName == "X-A" } == true)
    }

    @Test func aRedirectThatIsNotFollowedIsTheResponse() async throws {
        let manager = manager(StubTransport { _ in .status(302, headerFields: [.location: "/b"]) })
        manager.setTaskWillPerformHTTPRedirection { _, _, _, _ in nil }
        manager.dataTask(with: try request(), completionHandler: record).resume()
        let outcome = try await outcome()
        #expect(outcome.status == 302 && outcome.error?.code == NSURLErrorBadServerResponse)
    }

    @Test func theBlocksOfTheSessionSeeATask() async throws {
        let manager = manager(StubTransport { _ in .status(200, body: Data("body".utf8)) })
        let calls = EventRecorder<String>()
        manager.setTaskDidSendBodyData { _, _, sent, all, total in calls.record("sent \(sent) \(all) \(total)") }
        manager.setDataTaskDidReceiveResponse { _, _, response in
            calls.record("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
            return .allow
        }
        manager.setDataTaskDidReceiveData { _, _, data in calls.record("data \(data.count)") }
        manager.setTaskDidFinishCollectingMetrics { _, _, metrics in
            calls.record("metrics \(metrics.map(\.isReusedConnection))")
        }
        manager.setTaskDidComplete { _, task, error in calls.record("complete \(task.taskIdentifier) \(error == nil)") }
        manager.uploadTask(
            with: try request(method: "POST"), from: Data("up".utf8), progress: nil, completionHandler: record
        ).resume()
        #expect(try await outcome().text == "body")
        // The metrics may come after the handler.
        let all = try await calls.wait(count: 5)
        for call in ["sent 2 2 2", "response 200", "data 4", "metrics []", "complete 1 true"] {
            #expect(all.filter { $0 == call }.count == 1, "\(call) in \(all)")
        }
    }

    /// What a handler answers a challenge with.
    enum Answer: CaseIterable, Sendable {
        case credential, later, refusal, number, error, silence
    }

    @Test(arguments: Answer.allCases)
    func aChallengeIsAnsweredAsTheHandlerSays(answer: Answer) async throws {
        let transport = StubTransport { request in
            let isAuthorized = request.head.headerFields[.authorization] != nil
            return isAuthorized
                ? .status(200) : .status(401, headerFields: [.wwwAuthenticate: "Basic realm=\"Fake Realm\""])
        }
        let manager = manager(transport)
        struct Refusal: Error {}
        manager.setAuthenticationChallengeHandler { _, _, challenge, completion -> Any? in
            #expect(challenge.protectionSpace.realm == "Fake Realm" && challenge.previousFailureCount == 0)
            #expect(challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
            let credential = URLCredential(user: "ada", password: "linnet", persistence: .forSession)
            switch answer {
            case .credential: return credential
            case .later:
                DispatchQueue.global().async { completion(.useCredential, credential) }
                return nil
            case .refusal: return URLSession.AuthChallengeDisposition.rejectProtectionSpace
            case .number: return NSNumber(value: 2)
            case .error: return Refusal()
            case .silence: return nil
            }
        }
        var request = try request()
        request.url = URL(string: "https://example.com/x")
        manager.dataTask(with: request, completionHandler: record).resume()
        let outcome = try await outcome()
        switch answer {
        case .credential, .later: #expect(outcome.status == 200 && outcome.error == nil)
        case .refusal: #expect(outcome.status == 401 && outcome.error?.code == NSURLErrorBadServerResponse)
        case .number, .silence: #expect(outcome.error?.code == NSURLErrorUserCancelledAuthentication)
        case .error:
            #expect(outcome.error?.userInfo[NSUnderlyingErrorKey] != nil && outcome.error?.domain == NSURLErrorDomain)
        }
    }

    @Test(arguments: [true, false])
    func aResponseIsStoredAsTheBlockSays(isStored: Bool) async throws {
        let transport = StubTransport { request in
            .status(200, headerFields: [.cacheControl: "max-age=60"], body: Data("\(request.index)".utf8))
        }
        let manager = manager(transport) { $0.cacheStore = MemoryCacheStore() }
        manager.setDataTaskWillCacheResponse { _, _, proposed in
            isStored ? CachedURLResponse(response: proposed.response, data: Data("own".utf8)) : nil
        }
        for _ in 0..<2 {
            let count = outcomes.events.count
            manager.dataTask(with: try request(), completionHandler: record).resume()
            try await outcomes.wait(count: count + 1)
        }
        #expect(outcomes.events.map(\.text) == (isStored ? ["0", "own"] : ["0", "1"]))
    }

    @Test func aBodyThatIsReadOnceIsReplacedForARedirect() async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(307, headerFields: [.location: "/b"]) : .status(200)
        }
        let manager = manager(transport)
        manager.setTaskNeedNewBodyStream { _, task in .data(Data("again \(task.taskIdentifier)".utf8)) }
        var request = try request(method: "POST")
        request.body = .chunks(AsyncStream { $0.finish() } as AsyncStream<Data>, length: nil)
        manager.uploadTask(withStreamedRequest: request, progress: nil, completionHandler: record).resume()
        #expect(try await outcome().status == 200)
        #expect(transport.requests.last?.body == Data("again 1".utf8))
    }

    @Test func aResponseCanBeCancelled() async throws {
        let manager = manager(StubTransport { _ in .status(200, body: Data("body".utf8)) })
        manager.setDataTaskDidReceiveResponse { _, _, _ in .cancel }
        manager.dataTask(with: try request(), completionHandler: record).resume()
        #expect(try await outcome().error?.code == NSURLErrorCancelled)
    }

    @Test func aBlockCanBeReplacedWhileATaskRuns() async throws {
        let body = StubTransport.Body()
        let manager = manager(StubTransport { _ in .stream(body) })
        let calls = EventRecorder<String>()
        manager.setDataTaskDidReceiveData { _, _, _ in calls.record("first") }
        manager.dataTask(with: try request(), completionHandler: record).resume()
        body.send("a")
        try await calls.wait(count: 1)
        manager.setDataTaskDidReceiveData { _, _, _ in calls.record("second") }
        body.send("b")
        try await calls.wait(count: 2)
        body.finish()
        #expect(try await outcome().text == "ab")
        #expect(calls.events == ["first", "second"])
    }

    @Test(arguments: [true, false])
    func aResetMakesANewSession(resets: Bool) async throws {
        let manager = manager(StubTransport { _ in .status(200) })
        let ended = EventRecorder<Bool>()
        let first = manager.session
        manager.setSessionDidBecomeInvalid { session, error in ended.record(session === first && error == nil) }
        manager.invalidateSessionCancelingTasks(true, resetSession: resets)
        #expect((manager.session === first) == !resets)
        manager.dataTask(with: try request(), completionHandler: record).resume()
        let outcome = try await outcome()
        #expect(resets || outcome.error?.code == NSURLErrorCancelled)
        if !resets { #expect(try await ended.wait(count: 1) == [true]) }
    }

    @Test func progressCancelsPausesAndResumesItsTask() async throws {
        let body = StubTransport.Body()
        let manager = manager(StubTransport { _ in .stream(body, headerFields: [.contentLength: "2"]) })
        let task = manager.dataTask(with: try request(), completionHandler: record)
        let progress = try #require(manager.downloadProgress(for: task))
        let parent = Progress(totalUnitCount: 1)
        parent.addChild(progress, withPendingUnitCount: 1)
        task.resume()
        progress.pause()
        // Foundation calls the handlers on a queue of its own.
        while task.state != .suspended, !Task.isCancelled { await Task.yield() }
        progress.resume()
        while task.state != .running, !Task.isCancelled { await Task.yield() }
        #expect(task.state == .running)
        body.send("a")
        while progress.completedUnitCount < 1, !Task.isCancelled { await Task.yield() }
        #expect(progress.fractionCompleted == 0.5)
        parent.cancel()
        #expect(try await outcome().error?.code == NSURLErrorCancelled)
    }

    @Test func aSuspendedQueueOfTheSessionHoldsCompletions() async throws {
        let ended = Signal()
        let manager = manager(StubTransport { _ in .status(200) })
        manager.operationQueue.isSuspended = true
        let task = manager.dataTask(
            with: try request(), uploadProgress: nil, downloadProgress: nil,
            completionHandler: { [record] in
                record($0, $1, $2)
                ended.fire()
            })
        task.resume()
        while task.state != .completed, !Task.isCancelled { await Task.yield() }
        manager.completionQueue?.sync {}
        #expect(outcomes.events.isEmpty)
        manager.operationQueue.isSuspended = false
        await ended.wait()
        #expect(outcomes.events.count == 1)
    }

    @Test func theQueuesAreTheSessionsAndTheCompletions() async throws {
        let manager = manager(StubTransport { _ in .status(200) })
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "linnet.test.own")
        queue.setSpecific(key: key, value: 5)
        manager.completionQueue = queue
        let calls = EventRecorder<String>()
        manager.setTaskDidComplete { [weak manager] _, _, _ in
            calls.record("block \(OperationQueue.current === manager?.operationQueue)")
        }
        let task = manager.dataTask(with: try request()) { _, _, _ in
            calls.record("handler \(DispatchQueue.getSpecific(key: key) ?? 0)")
        }
        task.resume()
        #expect(try await calls.wait(count: 2) == ["block true", "handler 5"])
        #expect(manager.operationQueue.maxConcurrentOperationCount == 1)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct SecurityPolicyTests {
    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    /// The code of the error of a request to a server with a certificate of the test's own root; 0 for none.
    private func code(_ policy: AFSecurityPolicy, changing change: (AFSecurityPolicy) -> Void = { _ in }) async throws
        -> Int
    {
        try await withMockServer(.text("{}"), tls: pki.identity()) { server in
            let manager = AFHTTPSessionManager(baseURL: server.url)
            manager.responseSerializer = AFHTTPResponseSerializer()
            manager.completionQueue = .global()
            manager.securityPolicy = policy
            _ = try manager.session.result.get()
            change(policy)
            let outcome = try await VerbOutcome.of { manager.get("x", success: $0, failure: $1) }
            manager.invalidateSessionCancelingTasks(true, resetSession: false)
            return outcome.error?.code ?? 0
        }
    }

    private var root: Set<Data> { [Data(pki.root.derBytes)] }

    @Test func theDefaultIsAFNetworkings() {
        let policy = AFSecurityPolicy.default()
        #expect(policy.sslPinningMode == .none && !policy.allowInvalidCertificates && policy.validatesDomainName)
        #expect(policy.pinnedCertificates?.isEmpty == true)
        #expect(AFSecurityPolicy(pinningMode: .publicKey).sslPinningMode == .publicKey)
    }

    @Test func anUnknownAuthorityIsRefusedWithAFNetworkingsCode() async throws {
        #expect(try await code(.default()) == NSURLErrorServerCertificateUntrusted)
    }

    /// A public key counts in the chain that the server presents, which does not have the root.
    @Test(arguments: [AFSSLPinningMode.certificate, .publicKey])
    func aPinnedAuthorityIsTrusted(mode: AFSSLPinningMode) async throws {
        let pinned = mode == .certificate ? root : [pki.intermediate.derBytes]
        let policy = AFSecurityPolicy(pinningMode: mode, withPinnedCertificates: pinned)
        policy.allowInvalidCertificates = true
        #expect(try await code(policy) == 0)
    }

    @Test(arguments: [AFSSLPinningMode.certificate, .publicKey])
    func aPinningModeWithoutCertificatesTrustsNobody(mode: AFSSLPinningMode) async throws {
        let policy = AFSecurityPolicy(pinningMode: mode, withPinnedCertificates: [])
        policy.allowInvalidCertificates = true
        #expect(try await code(policy) == NSURLErrorServerCertificateUntrusted)
    }

    @Test func aCertificateThatCannotBeReadTrustsNobody() async throws {
        let policy = AFSecurityPolicy(pinningMode: .certificate, withPinnedCertificates: root.union([Data("x".utf8)]))
        policy.allowInvalidCertificates = true
        #expect(try await code(policy) == NSURLErrorServerCertificateUntrusted)
    }

    @Test(arguments: [(false, 0), (true, NSURLErrorServerCertificateUntrusted)])
    func invalidCertificatesAreAcceptedOnlyWithoutTheCheckOfTheName(_ row: (validates: Bool, code: Int)) async throws {
        let policy = AFSecurityPolicy.default()
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = row.validates
        #expect(try await code(policy) == row.code)
    }

    @Test func aChangeOfThePolicyAppliesToTheManager() async throws {
        let policy = AFSecurityPolicy(pinningMode: .certificate, withPinnedCertificates: [])
        let root = root
        let changed = try await code(policy) {
            $0.pinnedCertificates = root
            $0.allowInvalidCertificates = true
        }
        #expect(changed == 0)
    }

    @Test func aPinningPolicyRefusesClearText() async throws {
        let manager = AFHTTPSessionManager(baseURL: URL(string: "http://127.0.0.1:9/"))
        manager.completionQueue = .global()
        manager.securityPolicy = AFSecurityPolicy(pinningMode: .certificate, withPinnedCertificates: root)
        let outcome = try await VerbOutcome.of { manager.get("x", success: $0, failure: $1) }
        #expect(outcome.error?.code == NSURLErrorServerCertificateUntrusted)
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    @Test func aCopyHasAllSettings() throws {
        let policy = AFSecurityPolicy(pinningMode: .publicKey, withPinnedCertificates: root)
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = false
        let copy = try #require(policy.copy() as? AFSecurityPolicy)
        #expect(copy.sslPinningMode == .publicKey && copy.pinnedCertificates == root)
        #expect(copy.allowInvalidCertificates && !copy.validatesDomainName)
    }
}
