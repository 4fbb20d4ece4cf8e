internal import LinnetMessages
internal import NIOCore
internal import Synchronization

/// An attempt to open a connection: the pause before it, the lookup of the name, its sockets and its metrics. It can be
/// aborted at any time.
final class ConnectAttempt: Sendable {
    private struct Pause {
        /// Nil until it is scheduled.
        var timer: Scheduled<Void>?
        let end: @Sendable () -> Void
    }

    private struct State {
        var channels: [any Channel] = []
        var cancelLookup: (@Sendable () -> Void)?
        /// The addresses that the channels connect to.
        var addresses: [ObjectIdentifier: SocketAddress] = [:]
        var pause: Pause?
        var metrics = TransportMetrics()
        var address: SocketAddress?
        var isAborted = false
    }

    let start = Tick.now
    private let state = Mutex(State())

    /// The metrics so far.
    var metrics: TransportMetrics { state.withLock { $0.metrics } }
    /// The address of the connected socket, if there is one.
    var address: SocketAddress? { state.withLock { $0.address } }

    /// Records the address that a channel is about to connect to: after a server closes at once, the channel no longer
    /// has one.
    func connects(_ channel: any Channel, to address: SocketAddress) {
        state.withLock { $0.addresses[ObjectIdentifier(channel)] = address }
    }

    /// The address of a channel that was connected.
    func remoteAddress(of channel: any Channel) -> SocketAddress? {
        channel.remoteAddress ?? state.withLock { $0.addresses[ObjectIdentifier(channel)] }
    }

    /// Records that a socket was connected.
    func connected(to address: SocketAddress?, _ metrics: TransportMetrics) {
        state.withLock { state in
            state.metrics = metrics
            state.address = address
        }
    }

    /// Waits before opening the first socket. `end` is called once, after the time or when the attempt is aborted.
    func pause(for time: Duration, on eventLoop: any EventLoop, end: @escaping @Sendable () -> Void) {
        // Before it is scheduled, since the event loop may end it at once.
        let isAborted = state.withLock { state in
            if !state.isAborted { state.pause = Pause(end: end) }
            return state.isAborted
        }
        if isAborted { return end() }
        let timer = eventLoop.scheduleTask(in: TimeAmount(time)) { [self] in endPause() }
        let hasEnded = state.withLock { state in
            state.pause?.timer = timer
            return state.pause == nil
        }
        // It was aborted meanwhile, or it is over.
        if hasEnded { timer.cancel() }
    }

    /// Adds a lookup, which the function cancels. It may be called after the lookup has ended.
    func adopt(lookup cancel: @escaping @Sendable () -> Void) {
        let isAborted = state.withLock { state in
            if !state.isAborted { state.cancelLookup = cancel }
            return state.isAborted
        }
        if isAborted { cancel() }
    }

    /// Adds a socket; happy eyeballs may open several.
    func adopt(_ channel: any Channel) {
        let isAborted = state.withLock { state in
            if !state.isAborted { state.channels.append(channel) }
            return state.isAborted
        }
        if isAborted { channel.close(promise: nil) }
    }

    func abort() {
        let (cancelLookup, channels) = state.withLock { state in
            state.isAborted = true
            defer { (state.cancelLookup, state.channels) = (nil, []) }
            return (state.cancelLookup, state.channels)
        }
        cancelLookup?()
        for channel in channels { channel.close(promise: nil) }
        endPause()
    }

    private func endPause() {
        let pause = state.withLock { state in
            defer { state.pause = nil }
            return state.pause
        }
        pause?.timer?.cancel()
        pause?.end()
    }
}

/// Tells an attempt to which address its channel connects, and leaves the pipeline. A confinement excludes addresses.
final class ConnectAddressHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = Never

    private let attempt: ConnectAttempt
    private let key: PoolKey

    /// - Parameter key: The key of the connection, which names the server for people.
    init(_ attempt: ConnectAttempt, for key: PoolKey) {
        self.attempt = attempt
        self.key = key
    }

    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        let server = key.proxy?.proxy.server ?? key.origin
        if let refusal = LoopbackConfinement.refusal(ofConnectingTo: address, of: server.endpoint) {
            promise?.fail(refusal)
            // Unlike a failed connection, this one is not closed by the channel itself.
            return context.close(promise: nil)
        }
        attempt.connects(context.channel, to: address)
        context.connect(to: address, promise: promise)
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}

/// The attempts to open one connection.
struct ConnectSeries: Sendable {
    let key: PoolKey
    let timeouts: TransportTimeouts
    /// Whether the connection should be on the event loop of the request that needs it.
    let nearCaller: Bool
    /// The time after which no further attempt is made.
    let deadline: NIODeadline
    private(set) var failures = 0
    /// The addresses of connections that ended before they could be used.
    private(set) var tried: [SocketAddress] = []
    /// The error of the last attempt.
    private(set) var error: TransportError?

    init(_ key: PoolKey, _ timeouts: TransportTimeouts, nearCaller: Bool, now: NIODeadline) {
        self.key = key
        self.timeouts = timeouts
        self.nearCaller = nearCaller
        deadline = timeouts.connect.map { .after($0, from: now) } ?? .distantFuture
    }

    /// Records a failed attempt.
    mutating func failed(_ error: TransportError, at address: SocketAddress?) {
        failures += 1
        self.error = error
        if let address, !tried.contains(address) { tried.append(address) }
    }

    /// Whether there is time for another attempt.
    func hasTime(at now: NIODeadline) -> Bool { now < deadline }

    /// The time that an attempt has to connect: all attempts together have the time of one.
    func connectTimeout(at now: NIODeadline) -> TimeAmount {
        // NIO's bootstrap has a timeout of 10 s unless another one is set, and has no value for none.
        deadline == .distantFuture ? .hours(24) : max(.nanoseconds(1), deadline - now)
    }
}
