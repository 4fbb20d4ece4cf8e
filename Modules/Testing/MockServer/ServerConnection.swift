internal import FoundationEssentials
internal import LinnetTransport
internal import NIOCore
internal import Synchronization

/// Thrown when a fault has ended an exchange: the connection is done with, and so is who served it.
struct ExchangeEnded: Error {}

/// An accepted connection, as the task that serves it sees it.
final class ServerConnection: ExchangeLink {
    struct TLSSession: Sendable {
        var version: String
        var serverName: String?
        /// In DER.
        var clientCertificate: Data?
    }

    private struct Status {
        var exchangesInProgress = 0
        var tlsSession: TLSSession?
        var http2: NIOLoopBound<HTTP2ConnectionHandler>?
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

    /// What ends the connection in order, when it speaks HTTP/2.
    var http2: NIOLoopBound<HTTP2ConnectionHandler>? {
        get { status.withLock { $0.http2 } }
        set { status.withLock { $0.http2 = newValue } }
    }

    /// Called on the event loop, with what handlers below tell.
    func note(_ event: Any) {
        guard let completed = event as? TLSHandshakeCompleted else { return }
        tlsSession = TLSSession(
            version: completed.version, serverName: completed.serverName, clientCertificate: completed.clientCertificate
        )
    }

    var failedHandshake: Bool { isTLS && tlsSession == nil }

    /// Called on the event loop, when the head of a request over HTTP/1.1 arrives.
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

    func sendContinue() async throws {
        try await write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
    }

    func perform(_ effect: MockServer.Fault.Effect) async throws {
        switch effect.action {
        case .delay(let duration): return try await clock.sleep(for: duration)
        case .close: await close()
        case .reset, .resetStream: await reset()
        case .goAway: return
        case .stallConnection: await onWire { $0.freeze() }
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
