internal import NIOCore
internal import Synchronization

/// Thrown when a fault has ended an exchange, to end the task that serves it.
struct ExchangeEnded: Error {}

/// An accepted connection, for the task that serves it.
final class ServerConnection: ExchangeLink {
    private struct Status {
        var exchangesInProgress = 0
        var tlsSession: TLSServerHandshake?
        var http2: NIOLoopBound<HTTP2ConnectionHandler>?
    }

    let index: Int
    let channel: any Channel
    let clock: any Clock<Duration>
    /// Succeeds when the client's first bytes have arrived; nil without faults at `.clientHello`.
    let hello: EventLoopFuture<Void>?
    private let wire: NIOLoopBound<WireHandler>
    private let isTLS: Bool
    private let status = Mutex(Status())

    init(
        index: Int, channel: any Channel, wire: NIOLoopBound<WireHandler>, clock: any Clock<Duration>, isTLS: Bool,
        hello: EventLoopFuture<Void>?
    ) {
        self.index = index
        self.channel = channel
        self.wire = wire
        self.clock = clock
        self.isTLS = isTLS
        self.hello = hello
    }

    var tlsSession: TLSServerHandshake? {
        get { status.withLock { $0.tlsSession } }
        set { status.withLock { $0.tlsSession = newValue } }
    }

    /// The handler that ends the connection gracefully, when it uses HTTP/2.
    var http2: NIOLoopBound<HTTP2ConnectionHandler>? {
        get { status.withLock { $0.http2 } }
        set { status.withLock { $0.http2 = newValue } }
    }

    /// Records the TLS session when the event is the end of a handshake. Called on the event loop.
    func note(_ event: Any) {
        if case .handshakeCompleted(let handshake)? = event as? TLSServerEvent { tlsSession = handshake }
    }

    var failedHandshake: Bool { isTLS && tlsSession == nil }

    /// Called on the event loop when the head of an HTTP/1.1 request arrives.
    func beginExchange() {
        status.withLock { $0.exchangesInProgress += 1 }
    }

    private func endExchange() {
        status.withLock { $0.exchangesInProgress -= 1 }
    }

    /// Sends bytes, and returns when they were written to the socket.
    ///
    /// The exchange ends in the same turn of the event loop in which its last byte is written, so that the connection
    /// is idle once a client has received the whole response.
    func write(_ bytes: ByteBuffer, endsExchange: Bool = false) async throws {
        try await channel.eventLoop.flatSubmit { [channel] in
            channel.writeAndFlush(bytes).map { if endsExchange { self.endExchange() } }
        }.get()
    }

    func sendContinue() async throws {
        try await write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
    }

    func perform(_ effect: MockServer.Fault.Effect) async throws {
        switch effect.action {
        case .delay(let duration): return try await clock.sleep(for: duration)
        case .close: await close()
        case .reset, .resetStream: await reset()
        case .goAway: return
        case .stallConnection: await freeze()
        case .truncate: await abort()
        case .garbage: await onWire { $0.sendGarbage() }
        case .halfClose: await halfClose()
        case .stall: break
        }
        try? await channel.closeFuture.get()
        throw ExchangeEnded()
    }

    /// Performs an effect for a task that goes on after it. Returns when the connection is closed, except for `.delay`.
    func performAlone(_ effect: MockServer.Fault.Effect) async throws {
        do {
            try await perform(effect)
        } catch is ExchangeEnded {
            return
        }
    }

    /// Activates a connection that was held for its faults at `.connect`.
    func release() async {
        await onWire { $0.release() }
    }

    /// Passes on the bytes that were held for the faults at `.clientHello`.
    func releaseHello() async {
        await onWire { $0.releaseHello() }
    }

    /// Closes the connection gracefully, over TLS with close_notify.
    func close() async {
        try? await channel.close().get()
    }

    /// Closes the sending side gracefully.
    func halfClose() async {
        try? await channel.close(mode: .output).get()
    }

    /// Closes the TCP connection without close_notify.
    func abort() async {
        await onWire { $0.close() }
    }

    func freeze() async {
        await onWire { $0.freeze() }
    }

    /// Resets the TCP connection.
    func reset() async {
        await onWire { $0.reset() }
    }

    func closeIfIdle() async -> Bool {
        let isIdle = channel.eventLoop.submit { [channel, http2] in
            if let http2 { return channel.isActive && http2.value.goAwayIfIdle() }
            guard channel.isActive, self.status.withLock({ $0.exchangesInProgress == 0 }) else { return false }
            channel.close(promise: nil)
            return true
        }
        return (try? await isIdle.get()) ?? false
    }

    private func onWire(_ action: @escaping @Sendable (WireHandler) -> Void) async {
        try? await channel.eventLoop.submit { [wire] in action(wire.value) }.get()
    }
}

/// The carrier of one exchange: the connection over HTTP/1.1, a stream over HTTP/2.
protocol ExchangeLink: Sendable {
    /// The clock for delays and throttles.
    var clock: any Clock<Duration> { get }

    /// Performs a fault's effect. Throws ``ExchangeEnded`` unless the exchange continues after it.
    func perform(_ effect: MockServer.Fault.Effect) async throws

    /// Stalls the connection.
    func freeze() async

    /// Sends `100 Continue`.
    func sendContinue() async throws
}

/// The open connections of a server with the tasks that serve them.
final class ConnectionRegistry: Sendable {
    private struct State {
        var accepted = 0
        var running: [Int: (connection: ServerConnection, task: Task<Void, Never>)] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var acceptedConnections: Int { state.withLock { $0.accepted } }
    var openConnections: Int { state.withLock { $0.running.count } }
    var connections: [ServerConnection] { state.withLock { $0.running.values.map(\.connection) } }

    func makeIndex() -> Int {
        state.withLock { state in
            defer { state.accepted += 1 }
            return state.accepted
        }
    }

    /// Runs an operation in a task that is cancelled when the connection closes.
    func run(_ connection: ServerConnection, _ work: @escaping @Sendable () async -> Void) throws(TestingError) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard !state.isClosed else { return nil }
            let task = Task {
                await work()
                // The channel's handlers are removed in the next turn of the event loop, which must not stop before.
                try? await connection.channel.closeFuture.get()
                self.remove(connection)
            }
            state.running[connection.index] = (connection, task)
            return task
        }
        guard let task else { throw TestingError(.shutDown, "The server was shut down.") }
        connection.channel.closeFuture.whenComplete { _ in task.cancel() }
    }

    private func remove(_ connection: ServerConnection) {
        state.withLock { _ = $0.running.removeValue(forKey: connection.index) }
    }

    /// Closes all connections, cancels their tasks, and waits for these to end.
    func closeAll() async {
        let running = state.withLock { state in
            state.isClosed = true
            return Array(state.running.values)
        }
        for (connection, task) in running {
            task.cancel()
            await connection.abort()
        }
        for (_, task) in running { await task.value }
    }
}
