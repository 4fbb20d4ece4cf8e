internal import LinnetMessages
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Listens on a free port of 127.0.0.1 for the browser's answer (RFC 8252, section 7.3).
///
/// One path takes the answer, once: the first one with the state of the login counts, and a later one changes nothing.
final class LoopbackListener: Sendable {
    typealias Judge = @Sendable (Substring) -> AuthorizationRequest.Verdict

    private struct State {
        /// The listening channel, after ``LoopbackListener/open()``.
        var channel: (any Channel)?
        var judge: Judge?
        var result: Result<String, OAuthError>?
        var hasSeenOtherState = false
        var waiters = Waiters<Result<String, OAuthError>>()
        var connections: [ObjectIdentifier: Connection] = [:]
        var isClosed = false
    }

    private struct Connection: Sendable {
        let channel: any Channel
        let handler: NIOLoopBound<LoopbackHandler>
    }

    /// The largest number of open connections. A browser opens a few in advance.
    private static let connectionLimit = 32

    private let path: String
    private let requestTime: TimeAmount
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: The path of the answer.
    ///   - requestTime: The longest time for a request, after which its connection is closed.
    init(path: String, requestTime: TimeAmount = .seconds(10)) {
        self.path = path
        self.requestTime = requestTime
    }

    /// The port, after ``open()``.
    var port: Int { state.withLock { $0.channel?.localAddress?.port ?? 0 } }

    /// Whether an answer of another login came.
    var hasSeenOtherState: Bool { state.withLock { $0.hasSeenOtherState } }

    /// Opens the port.
    func open() async throws(OAuthError) {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 16)
                .childChannelInitializer { [weak self] channel in
                    channel.eventLoop.makeCompletedFuture {
                        guard let self else { throw ChannelError.ioOnClosedChannel }
                        try self.accept(channel)
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            state.withLock { $0.channel = channel }
        } catch {
            throw OAuthError(
                .listenerFailed, "No port of this machine could be opened for the browser's answer: \(error)",
                underlying: error)
        }
    }

    /// Answers are judged by a function. Before it is set, there are none.
    func judgeAnswers(by judge: @escaping Judge) {
        state.withLock { $0.judge = judge }
    }

    /// Waits for the answer.
    func code() async throws(OAuthError) -> String {
        try await state.wait(in: { $1(&$0.waiters) }, ifCancelled: { .failure(.cancelled) }) { $0.result }.get()
    }

    /// Closes the port and the connections, after the pages that are being sent.
    func close() async {
        let (channel, connections) = state.withLock { state in
            state.isClosed = true
            return (state.channel, Array(state.connections.values))
        }
        try? await channel?.close()
        for connection in connections {
            connection.channel.eventLoop.execute { connection.handler.value.end() }
        }
        for connection in connections { try? await connection.channel.closeFuture.get() }
    }

    private func accept(_ channel: any Channel) throws {
        let handler = LoopbackHandler(requestTime: requestTime) { [weak self] in self?.page(for: $0) ?? .notFound }
        let connection = Connection(
            channel: channel, handler: NIOLoopBound(handler, eventLoop: channel.eventLoop))
        let id = ObjectIdentifier(channel)
        let isAccepted = state.withLock { state in
            guard !state.isClosed, state.connections.count < Self.connectionLimit else { return false }
            state.connections[id] = connection
            return true
        }
        guard isAccepted else { throw ChannelError.ioOnClosedChannel }
        channel.closeFuture.whenComplete { [weak self] _ in
            let removed = self?.state.withLock { $0.connections.removeValue(forKey: id) }
            // Released after unlocking, with its handler.
            withExtendedLifetime(removed) {}
        }
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    /// Judges a request line, and returns the page for it.
    func page(for line: Substring) -> LoopbackPage {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1.") else { return .invalid }
        let target = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target.first.map(String.init) == path else { return .notFound }
        guard parts[0] == "GET" else { return .methodNotAllowed }
        return take(target.count > 1 ? target[1] : "")
    }

    private func take(_ query: Substring) -> LoopbackPage {
        typealias Outcome = (LoopbackPage, [Waiters<Result<String, OAuthError>>.Waiter], Result<String, OAuthError>?)
        let (page, waiters, result) = state.withLock { state -> Outcome in
            guard state.result == nil else { return (.answeredBefore, [], nil) }
            switch state.judge?(query) ?? .ignored {
            case .ignored: return (.invalid, [], nil)
            case .otherLogin:
                state.hasSeenOtherState = true
                return (.invalid, [], nil)
            case .code(let code): state.result = .success(code)
            case .failure(let error): state.result = .failure(error)
            }
            let page = if case .success = state.result { LoopbackPage.received } else { LoopbackPage.refused }
            return (page, state.waiters.takeAll(), state.result)
        }
        if let result { for waiter in waiters { waiter.resume(returning: result) } }
        return page
    }
}
