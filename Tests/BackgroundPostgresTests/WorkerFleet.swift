import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Synchronization

/// A server whose files are their paths, repeated.
func content(_ path: String, _ size: Int = 20_000) -> Data {
    Data(String(repeating: path, count: size / max(1, path.utf8.count)).utf8)
}

/// A store, and a server for its transfers.
struct WorkerFleet {
    let store: any TransferStore
    let place: StorePlace
    let server: MockServer
    let requests: Requests
    let session: HTTPSession

    func transfer(
        _ id: String, _ path: String? = nil, _ configure: (inout TransferOptions) -> Void = { _ in }
    ) throws -> TransferDescription {
        let call = session.get(try server.url(path ?? "/" + id).absoluteString)
        return try TransferDescription(id, download: call, to: id, configure: configure)
    }

    func upload(
        _ id: String, from source: String? = nil, _ configure: (inout TransferOptions) -> Void = { _ in }
    ) throws -> TransferDescription {
        let call = session.put(try server.url("/" + id).absoluteString)
        return try TransferDescription(id, upload: call, from: source ?? id, configure: configure)
    }

    /// Writes a file that workers can send, and returns its folder.
    @discardableResult
    func source(_ name: String, _ content: Data) throws -> URL {
        let folder = place.folder.appending(path: "sources")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try content.write(to: folder.appending(component: name), options: .atomic)
        return folder
    }

    /// The names of the files that the workers have written.
    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: place.folder.path + "/files")) ?? []).sorted()
    }

    func worker(
        _ name: String = "worker", _ store: (any TransferStore)? = nil,
        _ configure: (inout TransferWorker.Configuration) -> Void = { _ in },
        to destination: (@Sendable (StoredTransfer) async throws -> TransferWorker.Destination)? = nil
    ) async throws -> TransferWorker {
        let files = place.folder.appending(path: "files")
        try? FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        return try await TransferWorker(
            store ?? self.store, directory: place.folder.appending(path: name),
            configure: {
                $0.retryPolicy.backoff.first = .milliseconds(1)
                $0.retryPolicy.backoff.maximum = .milliseconds(5)
                configure(&$0)
            }, destination: destination ?? { try .file($0.destination, in: files) })
    }
}

func withFleet(
    _ kind: StoreKind, throttle: MockResponse.Throttle? = nil, size: Int = 20_000,
    _ perform: (WorkerFleet) async throws -> Void
) async throws {
    let requests = Requests()
    let session = try HTTPSession()
    do {
        try await withMockServer(handler: { requests.respond(to: $0, throttle, size) }) { server in
            try await withStorePlace(kind) { place in
                let store = try await place.open()
                try await perform(
                    WorkerFleet(store: store, place: place, server: server, requests: requests, session: session))
            }
        }
        await session.shutdown(.immediate)
    } catch {
        await session.shutdown(.immediate)
        throw error
    }
}

/// Serves ranges, and notes requests.
final class Requests: Sendable {
    private struct State {
        var ranges: [String?] = []
        var isFast = false
        var uploads: [RecordedRequest] = []
        var answers: [MockResponse] = []
    }

    private let state = Mutex(State())

    var ranges: [String?] { state.withLock { $0.ranges } }
    /// The uploads, in the order of their arrival.
    var uploads: [RecordedRequest] { state.withLock { $0.uploads } }
    func speedUp() { state.withLock { $0.isFast = true } }
    /// Answers the next requests with these.
    func answer(_ answers: MockResponse...) { state.withLock { $0.answers = answers } }

    func respond(to request: RecordedRequest, _ throttle: MockResponse.Throttle?, _ size: Int) -> MockResponse {
        let answer = state.withLock { state -> MockResponse? in
            if request.method != .get { state.uploads.append(request) }
            if !state.answers.isEmpty { return state.answers.removeFirst() }
            return request.method == .get ? nil : .text("thanks", status: .created)
        }
        if let answer { return answer }
        let range = request.headerFields[.range]
        let isFast = state.withLock { state in
            state.ranges.append(range)
            return state.isFast
        }
        let data = content(request.path, size)
        var response = MockResponse(headerFields: [.eTag: "\"v1\"", .acceptRanges: "bytes"], body: .bytes(data))
        if let first = range?.dropFirst("bytes=".count).split(separator: "-").first.flatMap({ Int($0) }) {
            response = MockResponse(
                status: .partialContent,
                headerFields: [.eTag: "\"v1\"", .contentRange: "bytes \(first)-\(data.count - 1)/\(data.count)"],
                body: .bytes(data.dropFirst(first)))
        }
        response.throttle = isFast ? nil : throttle
        return response
    }
}
