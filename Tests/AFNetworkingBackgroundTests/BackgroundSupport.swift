import Dispatch
import Foundation
internal import LifetimeSupport
import LinnetAFNetworkingBackground
import LinnetTesting
import Synchronization
import Testing

extension Trait where Self == LeavesNothingAlive {
    /// What a test makes is gone at its end.
    static var leavesNothingAlive: Self { Self() }
}

/// A folder for one test, removed with it.
func withFolder<Result>(_ perform: (URL) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "linnet-af-background-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await perform(url)
}

/// A configuration whose journal is in a folder.
func configuration(in folder: URL) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: "test")
    configuration.backgroundDirectory = folder.appending(path: "session")
    configuration.configuration.progressInterval = .zero
    return configuration
}

/// Makes a manager, and invalidates it at the end.
@discardableResult
func withManager<Result>(
    in folder: URL, _ configure: (AFURLSessionManager) -> Void = { _ in },
    _ perform: (AFURLSessionManager) async throws -> Result
) async throws -> Result {
    let manager = AFURLSessionManager(sessionConfiguration: configuration(in: folder))
    let invalidations = EventRecorder<Void>()
    manager.setSessionDidBecomeInvalid { _, _ in invalidations.record(()) }
    configure(manager)
    let result: Result
    do {
        result = try await perform(manager)
    } catch {
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
        throw error
    }
    manager.invalidateSessionCancelingTasks(true, resetSession: false)
    try await invalidations.wait(count: 1)
    return result
}

/// A request of a server.
func request(_ url: URL, _ method: String = "GET") -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = method
    return request
}

/// The notifications of tasks with a number, as text.
final class Notifications: Sendable {
    let names = EventRecorder<String>()
    private let observers = Mutex<[UncheckedObserver]>([])

    private static let ends: [(NSNotification.Name, String)] = [
        (.AFNetworkingTaskDidComplete, "complete"), (.AFURLSessionDownloadTaskDidMoveFileSuccessfully, "moved"),
        (.AFURLSessionDownloadTaskDidFailToMoveFile, "not moved"),
    ]

    init(of numbers: Set<Int>, _ kinds: [(NSNotification.Name, String)] = Notifications.ends) {
        for (name, text) in kinds {
            let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                [names] notification in
                guard let task = notification.object as? URLSessionTask, numbers.contains(task.taskIdentifier) else {
                    return
                }
                let response = notification.userInfo?[AFNetworkingTaskDidCompleteSerializedResponseKey]
                let kind = task is URLSessionDownloadTask ? "download" : "upload"
                names.record("\(kind) \(text)" + (response is [String: Any] ? " with JSON" : ""))
            }
            observers.withLock { $0.append(UncheckedObserver(base: observer)) }
        }
    }

    func stop() {
        for observer in observers.withLock({ $0 }) { NotificationCenter.default.removeObserver(observer.base) }
    }
}

// SAFETY: The observer is only passed to the center, which locks.
private struct UncheckedObserver: @unchecked Sendable {
    let base: any NSObjectProtocol
}

/// Serves one file in ranges, and answers uploads.
final class TransferServer: Sendable {
    struct State: Sendable {
        var file = Data()
        var throttle: MockResponse.Throttle?
        var requests: [RecordedRequest] = []
        /// Whether the server stops to read uploads after the first megabyte.
        var stallsUploads = false
        var upload = MockResponse.json(#"{"stored": true}"#, status: .created)
    }

    let state = Mutex(State())

    var requests: [RecordedRequest] { state.withLock { $0.requests } }
    var uploads: [RecordedRequest] { requests.filter { $0.method == .put } }

    func change(_ change: @Sendable (inout State) -> Void) { state.withLock { change(&$0) } }

    func run<Result>(_ perform: (MockServer) async throws -> Result) async throws -> Result {
        var configuration = MockServer.Configuration()
        configuration.faults = .init { [self] occasion in
            let stalls = state.withLock { $0.stallsUploads }
            return stalls && occasion.request?.method == .put
                ? [MockServer.Fault(.stall, at: .requestBody(after: 1_000_000))] : []
        }
        return try await withMockServer(
            configuration: configuration, handler: { self.respond(to: $0) }, perform: perform)
    }

    private func respond(to request: RecordedRequest) -> MockResponse {
        state.withLock { state in
            state.requests.append(request)
            if request.method == .put { return state.upload }
            guard request.path == "/file" else { return .text("no such page", status: .notFound) }
            var fields: HTTPFields = [.acceptRanges: "bytes", .eTag: "\"v1\"", .contentType: "text/plain"]
            var (status, body) = (HTTPResponse.Status.ok, state.file)
            if let range = request.headerFields[.range]?.dropFirst("bytes=".count).split(separator: "-").first,
                let first = Int(range), first < body.count
            {
                fields[.contentRange] = "bytes \(first)-\(body.count - 1)/\(body.count)"
                (status, body) = (.partialContent, body.dropFirst(first))
            }
            var response = MockResponse(status: status, headerFields: fields, body: .bytes(body))
            response.throttle = state.throttle
            return response
        }
    }
}

/// Bytes without a pattern that is shorter than 251 bytes.
func makeBytes(_ count: Int) -> Data { Data((0..<count).map { UInt8($0 % 251) }) }
