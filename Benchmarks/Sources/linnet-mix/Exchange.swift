import BenchMemory
import Foundation
import HTTPTypes
import Linnet

/// An operation with what it runs on. A result that is not the expected one is a ``Failure``.
struct Exchange: Sendable {
    enum Success: String {
        case ok
        /// The cache answered without the server.
        case hit
    }

    let draw: Draw
    let lane: Lane
    let worker: Worker

    var kind: Kind { draw.kind }
    var content: Content { draw.content }

    /// Performs the operation, or its beginning if it is to be cancelled.
    func run() async throws -> Success {
        guard let wait = draw.cancellation, kind != .handle else { return try await perform() }
        let work = Task { try await perform() }
        try await Task.sleep(for: wait)
        work.cancel()
        return try await work.value
    }

    private func perform() async throws -> Success {
        var random = draw.random
        switch kind {
        case .get where draw.size > Draw.largestCollected, .stream: try await stream(&random)
        case .get: try await expectContent(call(path()).response().value)
        case .head: try await head()
        case .download: try await download()
        case .resumed: try await resume(&random)
        case .redirected: try await redirect(&random)
        case .cached: return try await cached(&random)
        case .cookie: try await cookie()
        case .post, .put, .patch, .keyed: try await send(&random)
        case .delete: try await expectEcho(call("upload/0").response(), of: Content(seed: 0, size: 0), as: .delete)
        case .moved: try await move(&random)
        case .hedged: try await hedge(&random)
        case .handle: try await handle(&random)
        case .timeout: try await timeout()
        case .session: try await session(&random)
        }
        return .ok
    }

    // MARK: Requests

    func path(_ more: String = "") -> String { "file/0?size=\(draw.size)\(more)" }

    func call(_ path: String, _ configure: (inout SessionRequest) -> Void = { _ in }) throws -> HTTPCall {
        try lane.session.call(request(path, configure)).retry(retryPolicy)
    }

    func request(_ path: String, _ configure: (inout SessionRequest) -> Void = { _ in }) throws -> SessionRequest {
        guard let url = URL(string: lane.base.absoluteString + path) else { throw Failure("\(path) is no path.") }
        var request = SessionRequest(url: url, method: kind.method)
        request.headerFields[.number] = "\(draw.number)"
        request.headerFields[.fault] = draw.fault?.field
        if draw.fault?.effect == .stall { request.options.idleTimeout = .seconds(1) }
        if kind == .keyed { request.options.sendsIdempotencyKey = true }
        configure(&request)
        return request
    }

    private var retryPolicy: RetryPolicy {
        guard draw.isRetried else { return .never }
        var policy = RetryPolicy.limited(to: 2)
        policy.backoff.first = .milliseconds(50)
        return policy
    }

    // MARK: Checks

    func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Failure(what()) }
    }

    func expectContent(_ bytes: Data) throws {
        try expect(bytes.count == draw.size, "\(bytes.count) bytes came instead of \(draw.size)")
        try expect(Digest.of(bytes) == content.digest, "the body of \(draw.size) bytes is another one")
    }

    /// Checks what the server has received.
    func expectEcho(
        _ response: SessionResponse<Data>, of content: Content, as method: HTTPRequest.Method
    ) throws {
        let echo = String(decoding: response.value, as: UTF8.self)
        try expect(echo == "\(content.digest) \(content.size) \(method)", "the server received \(echo)")
    }
}
