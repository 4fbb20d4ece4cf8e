import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSecurity
import LinnetSession
import LinnetTesting
import LinnetTransport
import LinnetWebSocket
import Synchronization

/// Performs the exchange of a cell against a server with its fault.
struct Exchange: Sendable {
    /// The outcome of a cell.
    struct Outcome: Sendable, Equatable {
        /// `value`, or the code of the error.
        var result: String
        /// The promises that were broken.
        var violations: [String] = []
    }

    /// The length of each body.
    static let size = 40_000
    static let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    /// A stalled exchange ends after this.
    static let timeout = Duration.seconds(2)

    let cell: Cell
    let root: X509Certificate
    let identity: TestPKI.Identity

    func run() async throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-reliability-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await startServer()
        let proxy = cell.route == .proxy ? try await FaultProxy.start() : nil
        let session = try makeSession(for: server, proxy)
        var outcome = await perform(with: session, server, in: folder)
        check(&outcome, server, folder)
        if cell.kind != .webSocket { await checkThatTheSessionIsUsable(&outcome, session) }
        await session.shutdown(.immediate)
        await proxy?.shutdown()
        await server.shutdown()
        return outcome
    }

    // MARK: Both sides

    private var isFaulty: @Sendable (MockServer.FaultPlan.Occasion) -> Bool {
        let hasOccurred = FaultCounter()
        // Once: at the first connection, or at the first request of the cell.
        return { occasion in
            guard let request = occasion.request else { return occasion.connectionIndex == 0 }
            return request.path == "/cell" && hasOccurred.isFirst()
        }
    }

    private func startServer() async throws -> MockServer {
        let fault = MockServer.Fault(cell.effect.ofServer, at: cell.trigger.ofServer)
        let configuration = MockServer.Configuration { [isFaulty] in
            $0.hostName = "localhost"
            $0.httpVersions = cell.version == .http1 ? .http1 : .http2
            $0.faults = MockServer.FaultPlan { isFaulty($0) ? [fault] : [] }
        }
        let identity = cell.route == .tls ? identity : nil
        return try await .start(tls: identity, configuration: configuration) { [cell] request in
            if cell.kind == .webSocket {
                return .webSocket { try await WebSocketScript(cell: cell, socket: $0).run() }
            }
            guard request.method == .get else { return .text("\(request.bodyLength)") }
            // In chunks, so that garbage in the middle is no part of the body.
            let pieces = stride(from: 0, to: Self.size, by: 2_500).map { Self.content[$0..<$0 + 2_500] }
            return MockResponse(headerFields: [.eTag: "\"1\""], body: .chunks(pieces.map { Data($0) }))
        }
    }

    private func makeSession(for server: MockServer, _ proxy: FaultProxy?) throws -> HTTPSession {
        try HTTPSession(baseURL: server.url) {
            $0.httpVersions = cell.version == .http1 ? .http1 : .http2
            $0.securityPolicy = .systemTrust(anchors: try .certificates([root]))
            if let proxy { $0.proxies = .fixed(try Proxy(proxy.socksURL.absoluteString)) }
            if cell.retries { $0.retryPolicy = retryPolicy }
            // Without a stall no outcome depends on the machine's speed.
            let timeout = cell.effect == .stall ? Self.timeout : .seconds(60)
            $0.timeouts = TransportTimeouts(
                connect: .seconds(60), tlsHandshake: timeout, idleRead: timeout, idleWrite: timeout)
        }
    }

    private var retryPolicy: RetryPolicy {
        var policy = RetryPolicy.limited(to: 1)
        policy.backoff.first = .milliseconds(1)
        return policy
    }

    // MARK: The exchange

    private func perform(with session: HTTPSession, _ server: MockServer, in folder: URL) async -> Outcome {
        var outcome = Outcome(result: "value")
        do {
            switch cell.kind {
            case .data:
                let data = try await session.get("cell").data()
                if data != Self.content { outcome.violations.append("\(data.count) wrong bytes") }
            case .stream: try await stream(session, &outcome)
            case .upload:
                let count = try await session.post("cell").body(.data(Self.content)).text()
                if count != "\(Self.size)" { outcome.violations.append("\(count) bytes were received") }
            case .download: try await session.get("cell").download(to: folder.appending(path: "file"))
            case .webSocket: try await converse(session, &outcome)
            case .background: try await download(session, in: folder)
            }
        } catch let error as SessionError {
            outcome.result = "\(error.code)"
        } catch let error as WebSocketError {
            outcome.result = "\(error.code)"
        } catch let error as BackgroundError {
            outcome.result = "\(error.code)"
        } catch {
            outcome.violations.append("untyped error: \(error)")
        }
        return outcome
    }

    private func stream(_ session: HTTPSession, _ outcome: inout Outcome) async throws {
        let response = try await session.get("cell").bytes()
        var received = Data()
        defer {
            if !Self.content.starts(with: received) { outcome.violations.append("\(received.count) wrong bytes") }
            // Bytes that arrived before the end are delivered before the error. A reset may discard them.
            if cell.trigger == .responseBody, cell.effect != .reset, cell.effect != .stall,
                received.count < Self.size / 4
            {
                outcome.violations.append("only \(received.count) bytes were delivered")
            }
        }
        for try await bytes in response.body { received += bytes }
        if received.count != Self.size { outcome.violations.append("\(received.count) bytes taken for whole") }
    }

    private func converse(_ session: HTTPSession, _ outcome: inout Outcome) async throws {
        let socket = try await session.get("cell").webSocket {
            if cell.effect == .stall { ($0.pingInterval, $0.pongTimeout) = (Self.timeout, Self.timeout) }
        }
        var messages: [WebSocket.Message] = []
        defer {
            let expected: [WebSocket.Message] = [.binary(Self.content)]
            if !expected.starts(with: messages) { outcome.violations.append("a wrong message") }
        }
        for try await message in socket.messages { messages.append(message) }
        if messages.isEmpty { outcome.violations.append("no message") }
    }

    private func download(_ session: HTTPSession, in folder: URL) async throws {
        let background = try await BackgroundSession("grid", directory: folder.appending(path: "session")) {
            $0.session = session
            $0.retryPolicy = retryPolicy
        }
        do {
            let task = try await background.download(session.get("cell"), to: folder.appending(path: "file"))
            let ended = try await background.ended(task.id)
            await background.shutdown()
            if let error = ended.error { throw error }
        } catch {
            await background.shutdown()
            throw error
        }
    }

    // MARK: Promises

    private func check(_ outcome: inout Outcome, _ server: MockServer, _ folder: URL) {
        let file = folder.appending(path: "file")
        if cell.kind == .download || cell.kind == .background {
            let data = try? Data(contentsOf: file)
            let expected = outcome.result == "value" ? Self.content : nil
            if data != expected { outcome.violations.append("the file has \(data?.count ?? 0) bytes") }
        }
        let processed = server.recordedRequests.count { $0.method == .post && $0.isComplete }
        if processed > 1 { outcome.violations.append("the upload was processed \(processed) times") }
    }

    /// An idle connection that is broken may be noticed by the next request alone.
    private func checkThatTheSessionIsUsable(_ outcome: inout Outcome, _ session: HTTPSession) async {
        for isLast in [cell.trigger != .idle, true] {
            do {
                let data = try await session.get("other").retry(retryPolicy).data()
                if data != Self.content { outcome.violations.append("the next request got wrong bytes") }
                return
            } catch {
                guard isLast else { continue }
                return outcome.violations.append("the next request failed with \(error.code)")
            }
        }
    }
}

/// Tells the first of several calls.
private final class FaultCounter: Sendable {
    private let count = Atomic(0)

    func isFirst() -> Bool { count.add(1, ordering: .relaxed).oldValue == 0 }
}
