internal import NIOCore
internal import Synchronization

/// Thrown when a fault has ended an exchange: the connection is done with, and so is who served it.
struct ExchangeEnded: Error {}

/// An accepted connection, as the task that serves it sees it.
final class ServerConnection: Sendable {
    struct TLSSession: Sendable {
        var version: String
        var serverName: String?
    }

    private struct Status {
        var exchangesInProgress = 0
        var tlsSession: TLSSession?
    }

    let index: Int
    let channel: any Channel
    let clock: any Clock<Duration>
    private let wire: NIOLoopBound<WireHandler>
    private let isTLS: Bool
    private let status = Mutex(Status())

    init(
        index: Int, channel: any Channel, wire: NIOLoopBound<WireHandler>, clock: any Clock<Duration>, isTLS: Bool
    ) {
        self.index = index
        self.channel = channel
        self.wire = wire
        self.clock = clock
        self.isTLS = isTLS
    }

    var tlsSession: TLSSession? {
        get { status.withLock { $0.tlsSession } }
        set { status.withLock { $0.tlsSession = newValue } }
    }

    var failedHandshake: Bool { isTLS && tlsSession == nil }

    /// Called on the event loop, when a request's head arrives.
    func beginExchange() {
        status.withLock { $0.exchangesInProgress += 1 }
    }

    private func endExchange() {
        status.withLock { $0.exchangesInProgress -= 1 }
    }

    /// Sends bytes, and returns when the socket has taken them.
    ///
    /// The end of an exchange is noted in the same turn of the event loop in which its last byte leaves, so that a
    /// client which has the whole response also finds the connection idle.
    func write(_ bytes: ByteBuffer, endsExchange: Bool = false) async throws {
        try await channel.eventLoop.flatSubmit { [channel] in
            channel.writeAndFlush(bytes).map { if endsExchange { self.endExchange() } }
        }.get()
    }

    /// Lets a fault take its course; throws ``ExchangeEnded`` unless the exchange goes on after it.
    func perform(_ effect: MockServer.Fault.Effect) async throws {
        switch effect.action {
        case .delay(let duration): return try await clock.sleep(for: duration)
        case .close: await close()
        case .reset: await reset()
        case .truncate: await abort()
        case .halfClose: await halfClose()
        case .stall: break
        }
        try? await channel.closeFuture.get()
        throw ExchangeEnded()
    }

    /// Lets a connection begin that was held for its faults at connect.
    func release() async {
        await onWire { $0.release() }
    }

    /// Closes in order, over TLS with close_notify.
    func close() async {
        try? await channel.close().get()
    }

    /// Ends the sending side in order.
    func halfClose() async {
        try? await channel.close(mode: .output).get()
    }

    /// Closes the TCP connection under TLS.
    func abort() async {
        await onWire { $0.close() }
    }

    /// Resets the TCP connection.
    func reset() async {
        await onWire { $0.reset() }
    }

    func closeIfIdle() async -> Bool {
        let isIdle = channel.eventLoop.submit { [channel] in
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
