import Foundation  // Thread
import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetUIState
import Synchronization
import Testing

/// An image that is as good as its name.
struct Picture: DecodedImage, Hashable {
    var name: String
    var byteCount = 4
}

/// Reads a body as the name of a picture. An empty one cannot be decoded.
struct PictureSerializer: ResponseSerializer {
    var validation = ResponseValidation()

    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Picture {
        try validation.validate(response)
        guard !response.body.isEmpty else {
            throw SerializationError(code: .decodingFailed, message: "There is no name.", response: response)
        }
        return Picture(name: String(decoding: response.body, as: UTF8.self))
    }
}

extension ResponseSerializer where Self == PictureSerializer {
    static var picture: Self { Self() }
}

extension ImageProcessor where Image == Picture {
    static func tagged(_ tag: String) -> Self {
        Self(tag) { Picture(name: $0.name + "+" + tag, byteCount: $0.byteCount) }
    }
}

extension ImageRequest where Image == Picture {
    init(path: String, priority: RequestPriority = .normal, processors: [ImageProcessor<Picture>] = []) throws {
        self.init(
            try #require(URL(string: "http://pictures.test/\(path)")), processors: processors, priority: priority)
    }
}

/// A transport whose answers a test releases one by one: the body of `/x` is `x`.
final class PictureServer: Sendable {
    private struct State {
        var waiting:
            [(number: Int, path: String, continuation: CheckedContinuation<StubTransport.Response, any Error>)] = []
        var lastNumber = 0
        var active = 0
        var mostActive = 0
        var received: [String] = []
        var isOpen: Bool
    }

    private let state: Mutex<State>
    private let arrivals = EventRecorder<String>()

    /// - Parameter isOpen: Whether requests are answered at once.
    init(isOpen: Bool = false) { state = Mutex(State(isOpen: isOpen)) }

    var transport: StubTransport {
        StubTransport { [self] request in try await answer(String((request.head.path ?? "/").dropFirst())) }
    }

    /// The paths of the requests, in the order of their arrival.
    var received: [String] { state.withLock { $0.received } }
    var active: Int { state.withLock { $0.active } }
    var mostActive: Int { state.withLock { $0.mostActive } }

    func waitForRequests(_ count: Int) async throws { try await arrivals.wait(count: count) }

    func answer(_ path: String, with response: StubTransport.Response? = nil) {
        let continuation = state.withLock { state in
            state.waiting.firstIndex { $0.path == path }.map { state.waiting.remove(at: $0).continuation }
        }
        continuation?.resume(returning: response ?? Self.body(path))
    }

    func fail(_ path: String) { answer(path, with: .status(.internalServerError)) }

    /// Answers all waiting and further requests.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { request.continuation.resume(returning: Self.body(request.path)) }
    }

    static func body(_ path: String) -> StubTransport.Response {
        .status(.ok, headerFields: [.contentType: "image/test"], body: Data(path.utf8))
    }

    private func answer(_ path: String) async throws -> StubTransport.Response {
        defer { state.withLock { $0.active -= 1 } }
        // A cancelled request may arrive after another one with the same path, which goes on.
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isAnswered = state.withLock { state in
                    state.active += 1
                    state.mostActive = max(state.mostActive, state.active)
                    state.received.append(path)
                    guard !state.isOpen, !Task.isCancelled else { return true }
                    state.waiting.append((number, path, continuation))
                    return false
                }
                arrivals.record(path)
                if isAnswered { continuation.resume(returning: Self.body(path)) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
            }
            waiting?.resume(throwing: CancellationError())
        }
    }
}

/// Runs a body with a downloader over a server, and shuts the session down.
func withDownloader<Result>(
    of server: PictureServer, _ configure: (inout ImageDownloader<Picture>.Configuration) -> Void = { _ in },
    perform: (ImageDownloader<Picture>) async throws -> Result
) async throws -> Result {
    let session = try HTTPSession(transport: server.transport)
    let downloader = ImageDownloader(session: session, serializer: .picture) {
        $0.imageCache = AutoPurgingImageCache(purgesUnderMemoryPressure: false)
        configure(&$0)
    }
    let result = try await perform(downloader)
    server.open()
    await session.shutdown(.immediate)
    return result
}

/// Waits until a condition holds that other threads change. The time limit of the suite bounds the wait: it cancels the
/// test.
func eventually(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}

/// Whether the caller runs on the main thread.
func isMainThread() -> Bool { Thread.isMainThread }
