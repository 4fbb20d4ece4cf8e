import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

/// The expectations of AFNetworking's own tests of managers, where no other test of the module has them, over a stub.
@Suite(.timeLimit(.minutes(5)))
struct ManagerExpectationTests {
    /// The kinds of tasks that post notifications.
    enum Kind: CaseIterable, Sendable {
        case data, upload, download

        func make(_ manager: AFURLSessionManager, _ request: URLRequest) -> URLSessionTask {
            switch self {
            case .data: manager.dataTask(with: request, completionHandler: nil)
            case .upload: manager.uploadTask(with: request, from: Data("up".utf8), progress: nil)
            case .download: manager.downloadTask(with: request, progress: nil, destination: nil)
            }
        }
    }

    private func request() throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "http://example.com/delay/1")))
    }

    @Test(arguments: Kind.allCases)
    func resumeAndSuspendAreNotified(kind: Kind) async throws {
        let release = Signal()
        let manager = makeManager(
            "http://example.com/",
            StubTransport { _ in
                await release.wait()
                return .json("{}")
            })
        let task = kind.make(manager, try request())
        let posted = EventRecorder<String>()
        let center = NotificationCenter.default
        let names: [(NSNotification.Name, String)] = [
            (.AFNetworkingTaskDidResume, "resume"), (.AFNetworkingTaskDidSuspend, "suspend"),
        ]
        let tokens = names.map { name, text in
            center.addObserver(forName: name, object: task, queue: nil) { _ in posted.record(text) }
        }
        defer { for token in tokens { center.removeObserver(token) } }
        task.resume()
        task.suspend()
        // Nothing changes.
        task.suspend()
        #expect(try await posted.wait(count: 2) == ["resume", "suspend"])
        task.cancel()
        release.fire()
    }

    @Test(arguments: [true, false])
    func theFateOfADownloadedFileIsNotified(isMovable: Bool) async throws {
        let manager = makeManager(
            "http://example.com/", StubTransport { _ in .status(200, body: Data("abc".utf8)) })
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-af-\(UUID().uuidString)")
        let place = isMovable ? folder.appendingPathExtension("txt") : folder.appending(path: "b/c")
        defer { try? FileManager.default.removeItem(at: place) }
        let posted = EventRecorder<Bool>()
        let task = manager.downloadTask(with: try request(), progress: nil, destination: { _, _ in place })
        let center = NotificationCenter.default
        let names: [(NSNotification.Name, Bool)] = [
            (.AFURLSessionDownloadTaskDidMoveFileSuccessfully, true),
            (.AFURLSessionDownloadTaskDidFailToMoveFile, false),
        ]
        let tokens = names.map { name, isGood in
            center.addObserver(forName: name, object: task, queue: nil) { _ in posted.record(isGood) }
        }
        defer { for token in tokens { center.removeObserver(token) } }
        task.resume()
        #expect(try await posted.wait(count: 1) == [isMovable])
    }

    @Test func a204HasNoObject() async throws {
        let manager = makeManager("http://example.com/", StubTransport { _ in .status(204) })
        let outcome = try await VerbOutcome.of { manager.get("status/204", success: $0, failure: $1) }
        #expect(outcome.object == "nil" && outcome.error == nil)
    }

    @Test func anInitializedManagerIsNotAnother() { #expect(AFHTTPSessionManager() !== AFHTTPSessionManager()) }

    /// AFNetworking throws an exception; here no request is sent.
    @Test(arguments: [AFSSLPinningMode.certificate, .publicKey], ["http://127.0.0.1:9", nil])
    func aPinningPolicyNeedsHTTPS(mode: AFSSLPinningMode, base: String?) async throws {
        let manager = AFHTTPSessionManager(baseURL: base.flatMap { URL(string: $0) })
        manager.completionQueue = DispatchQueue(label: "linnet.test.completion")
        manager.securityPolicy = AFSecurityPolicy(pinningMode: mode, withPinnedCertificates: [])
        let outcome = try await VerbOutcome.of { manager.get("http://127.0.0.1:9/get", success: $0, failure: $1) }
        #expect(outcome.error?.code == NSURLErrorServerCertificateUntrusted)
    }

    @Test(arguments: [200, 404])
    func theIndicatorTurnsOnAndOff(status: Int) async throws {
        // A request that ends at once is never shown.
        let release = Signal()
        let manager = makeManager(
            "http://example.com/",
            StubTransport { _ in
                await release.wait()
                return .json("{}", status: .init(code: status))
            })
        let session = try manager.session.result.get()
        let shown = EventRecorder<Bool>()
        let indicator = await MainActor.run {
            let indicator = AFNetworkActivityIndicatorManager(indicator: NetworkActivityIndicator(following: [session]))
            indicator.activationDelay = 0
            indicator.completionDelay = 0
            indicator.isEnabled = true
            indicator.setNetworkingActivityActionWith { shown.record($0) }
            return indicator
        }
        manager.get("status/\(status)")
        try await shown.wait(count: 1)
        release.fire()
        #expect(try await shown.wait(count: 2) == [true, false])
        withExtendedLifetime(indicator) {}
    }

    @MainActor
    @Test func statesThatAreDroppedDoNotFollowTheirTask() async throws {
        let release = Signal()
        let manager = makeManager(
            "http://example.com/",
            StubTransport { _ in
                await release.wait()
                return .json("{}")
            })
        let ended = EventRecorder<Void>()
        let task = manager.dataTask(with: try request()) { _, _, _ in ended.record(()) }
        weak var dropped: ActivityState?
        weak var refresh: RefreshState?
        do {
            let (activity, refreshing) = (ActivityState(), RefreshState())
            activity.setAnimatingWithStateOf(task)
            refreshing.setRefreshingWithStateOf(task)
            (dropped, refresh) = (activity, refreshing)
        }
        #expect(dropped == nil && refresh == nil)
        task.resume()
        task.suspend()
        task.resume()
        release.fire()
        try await ended.wait(count: 1)
    }
}
