import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetTesting
import Synchronization
import Testing

/// Managers that are made and dropped, blocks that retain them, and subclasses that override half of it.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(10)))
struct LifetimeTests {
    private func manager(_ transport: StubTransport, on queue: DispatchQueue) -> AFHTTPSessionManager {
        let manager = AFHTTPSessionManager(
            baseURL: URL(string: "http://example.com"),
            sessionConfiguration: URLSessionConfiguration(HTTPSession.Configuration(), transport: transport))
        manager.completionQueue = queue
        return manager
    }

    /// How a program holds its manager in a block, and what becomes of the task.
    enum Use: Int, CaseIterable {
        /// The handler retains the manager.
        case retained
        /// A block of the session retains the manager, until the manager has ended and forgets its blocks.
        case retainedBySession
        /// The task is never resumed.
        case neverResumed
        /// The task is cancelled at once.
        case cancelled
        /// The manager is invalidated while the task runs.
        case invalidated
        /// The request cannot be made.
        case impossible
    }

    @Test func tenThousandManagersLeaveNothingAndCallEachHandlerOnce() async throws {
        let count = 10_000
        let transport = StubTransport { _ in .json("{}") }
        let queue = DispatchQueue(label: "linnet.test.completion")
        let calls = Mutex([Int](repeating: 0, count: count))
        let ended = EventRecorder<Void>()
        for index in 0..<count {
            let manager = manager(transport, on: queue)
            let record: @Sendable () -> Void = {
                calls.withLock { $0[index] += 1 }
                ended.record(())
            }
            let use = Use.allCases[index % Use.allCases.count]
            if use == .retainedBySession {
                manager.setTaskDidComplete { _, _, _ in withExtendedLifetime(manager) {} }
            }
            let path = use == .impossible ? "http://[" : "x"
            let task = manager.dataTask(
                withHTTPMethod: "GET", urlString: path,
                success: { [manager] _, _ in
                    withExtendedLifetime(manager, record)
                    manager.setTaskDidComplete(nil)
                },
                failure: { [manager] _, _ in
                    withExtendedLifetime(manager, record)
                    manager.setTaskDidComplete(nil)
                })
            if use != .neverResumed { task?.resume() }
            if use == .cancelled { task?.cancel() }
            if use == .invalidated { manager.invalidateSessionCancelingTasks(true, resetSession: index % 2 == 0) }
        }
        try await ended.wait(count: count)
        queue.sync {}
        #expect(calls.withLock { calls in calls.allSatisfy { $0 == 1 } })
    }

    /// Overrides what reads responses and makes tasks, as clients do that map errors or add header fields.
    final class Client: AFHTTPSessionManager, @unchecked Sendable {
        let seen = EventRecorder<String>()

        override func dataTask(
            with request: URLRequest, uploadProgress: ProgressBlock?, downloadProgress: ProgressBlock?,
            completionHandler: CompletionBlock?
        ) -> URLSessionDataTask {
            seen.record("\(request.httpMethod ?? "") \(request.url?.path() ?? "")")
            var request = request
            request.setValue("own", forHTTPHeaderField: "X-Own")
            return super.dataTask(
                with: request, uploadProgress: uploadProgress, downloadProgress: downloadProgress,
                completionHandler: { response, object, error in
                    // Later, when the task has ended.
                    DispatchQueue.global().async { [object = Box(object)] in
                        completionHandler?(response, object.value, error)
                    }
                })
        }

        override var responseSerializer: any AFURLResponseSerialization {
            get { super.responseSerializer }
            set { seen.record("serializer") }
        }
    }

    /// SAFETY: Handed from one queue to the next.
    struct Box: @unchecked Sendable {
        let value: Any?

        init(_ value: Any?) { self.value = value }
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
    func aVerbGoesThroughTheMethodsThatASubclassOverrides(verb: String) async throws {
        let transport = StubTransport { _ in .json("{}") }
        let client = Client(
            baseURL: URL(string: "http://example.com"),
            sessionConfiguration: URLSessionConfiguration(HTTPSession.Configuration(), transport: transport))
        client.responseSerializer = AFHTTPResponseSerializer()
        client.completionQueue = DispatchQueue(label: "linnet.test.completion")
        let outcome = try await VerbOutcome.of { success, failure in
            switch verb {
            case "GET": client.get("x", success: success, failure: failure)
            case "HEAD": client.head("x", success: { success($0, nil) }, failure: failure)
            case "POST": client.post("x", success: success, failure: failure)
            case "PUT": client.put("x", success: success, failure: failure)
            case "PATCH": client.patch("x", success: success, failure: failure)
            default: client.delete("x", success: success, failure: failure)
            }
        }
        #expect(outcome.error == nil && (outcome.task?.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(client.seen.events == ["serializer", "\(verb) /x"])
        let own = try #require(HTTPField.Name("X-Own"))
        #expect(transport.requests.first?.head.headerFields[own] == "own")
    }

    /// Changes a manager while it is released.
    private final class Owner: Sendable {
        let manager: AFHTTPSessionManager
        let change: @Sendable (AFHTTPSessionManager) -> Void

        init(_ manager: AFHTTPSessionManager, change: @escaping @Sendable (AFHTTPSessionManager) -> Void) {
            (self.manager, self.change) = (manager, change)
        }

        deinit { change(manager) }
    }

    @Test func anObjectThatAManagerReleasesCanUseTheManager() {
        let manager = manager(StubTransport { _ in .json("{}") }, on: .main)
        let ended = EventRecorder<String>()
        func owner(_ name: String, _ change: @escaping @Sendable (AFHTTPSessionManager) -> Void) -> Owner {
            Owner(manager) { manager in
                change(manager)
                ended.record(name)
            }
        }

        var held: Owner? = owner("block") { $0.setTaskDidComplete(nil) }
        manager.setTaskDidComplete { [held] _, _, _ in withExtendedLifetime(held) {} }
        held = nil
        manager.setTaskDidComplete(nil)

        held = owner("query") { $0.requestSerializer.setQueryStringSerializationWith(nil) }
        manager.requestSerializer.setQueryStringSerializationWith { [held] _, _, _ in
            withExtendedLifetime(held) { "" }
        }
        held = nil
        manager.requestSerializer.setQueryStringSerializationWith(nil)

        held = owner("reachability") { $0.reachabilityManager.setReachabilityStatusChange(nil) }
        manager.reachabilityManager = AFNetworkReachabilityManager()
        manager.reachabilityManager.setReachabilityStatusChange { [held] _ in withExtendedLifetime(held) {} }
        held = nil
        manager.reachabilityManager.setReachabilityStatusChange(nil)

        #expect(ended.events == ["block", "query", "reachability"])
    }
}
