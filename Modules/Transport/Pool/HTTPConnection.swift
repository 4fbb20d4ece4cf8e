internal import LinnetSecurity
internal import NIOCore
internal import Synchronization

/// One connection to an origin: what it is, and the way onto its event loop.
final class HTTPConnection: Sendable, ShelvedConnection {
    /// What runs the exchanges.
    enum Wire {
        case http1(NIOLoopBound<HTTP1Handler>)
        case http2(NIOLoopBound<HTTP2Connection>)
    }

    let id: UInt64
    let key: PoolKey
    /// Where its free places lie.
    let shard: PoolShard
    private let channel: any Channel
    private let wire: Wire
    /// What opening it cost and agreed on; each exchange's metrics begin as a copy.
    private let opening: TransportMetrics
    private let retiresAt: NIODeadline
    /// Nil for plain HTTP.
    private let lateFailure: TLSLateFailure?
    private let isRetired = Atomic(false)
    private let exchanges = Atomic(0)
    private let hasLainIdle = Atomic(false)

    init(
        id: UInt64, key: PoolKey, shard: PoolShard, channel: any Channel, wire: Wire, opening: TransportMetrics,
        maximumAge: Duration?, lateFailure: TLSLateFailure? = nil
    ) {
        self.id = id
        self.key = key
        self.shard = shard
        self.channel = channel
        self.wire = wire
        self.opening = opening
        self.lateFailure = lateFailure
        retiresAt = maximumAge.map { .after($0) } ?? .distantFuture
    }

    var isOpen: Bool { channel.isActive }

    var isMultiplexed: Bool {
        switch wire {
        case .http1: false
        case .http2: true
        }
    }

    /// How many exchanges it may run at a time before the server has said so.
    var initialCapacity: Int { isMultiplexed ? HTTP2ConnectionStateMachine.assumedConcurrentStreams : 1 }

    /// How often a request may be sent again that did not reach the server on connections like this: as long as they had
    /// waited for it, any of them may have gone meanwhile; from one that was opened for it, once.
    var mostRepeats: Int { isMultiplexed || mayBeStale ? 10 : 1 }

    /// Whether the server may have closed it before the exchange that runs now, or ended last: it had served another one, or
    /// lain unused, as one does that was opened in advance.
    private var mayBeStale: Bool { exchanges.load(ordering: .relaxed) > 1 || hasLainIdle.load(ordering: .relaxed) }

    /// It lies on a shelf from now on.
    func layAside() {
        hasLainIdle.store(true, ordering: .relaxed)
    }

    /// Whether it should serve nobody any more. One that has served nobody yet is not too old.
    func isWornOut(_ now: NIODeadline) -> Bool {
        isRetired.load(ordering: .relaxed) || (now >= retiresAt && exchanges.load(ordering: .relaxed) > 0)
    }

    /// Runs one exchange; the caller has leased the connection.
    func run(
        _ request: TransportRequest, observer: (any TransportObserver)?, timeouts: TransportTimeouts,
        deadline: NIODeadline?, queuedSince start: Tick
    ) async -> HTTPExchange.Outcome {
        let isReused = exchanges.add(1, ordering: .relaxed).oldValue > 0
        let exchange = HTTPExchange(
            request: request, observer: observer, timeouts: timeouts, deadline: deadline,
            mayBeStale: mayBeStale, metrics: opening.beginning(queuedSince: start, isReused: isReused))
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                exchange.waiter = continuation
                self.start(exchange)
            }
        } onCancel: {
            exchange.isCancelled.store(true, ordering: .releasing)
            cancel(exchange)
        }
        // Why the connection ended is worth more than that it did.
        if case .failure(let error, _) = outcome, error.code == .connectionClosed, let reason = lateFailure?.error {
            return .failure(reason, canRepeat: false)
        }
        return outcome
    }

    private func start(_ exchange: HTTPExchange) {
        switch wire {
        case .http1(let handler): handler.execute { $0.start(exchange) }
        case .http2(let connection): connection.execute { $0.start(exchange) }
        }
    }

    private func cancel(_ exchange: HTTPExchange) {
        switch wire {
        case .http1(let handler): handler.execute { $0.cancel(exchange, .readerCancelled) }
        case .http2(let connection): connection.execute { $0.cancel(exchange, .readerCancelled) }
        }
    }

    /// Closes the connection; an exchange that runs on it fails.
    func close(_ error: TransportError) {
        switch wire {
        case .http1(let handler): handler.execute { $0.shutDown(error) }
        case .http2(let connection): connection.execute { $0.shutDown(error) }
        }
    }

    /// Takes no further exchange, and closes once those that run are over.
    func retire() {
        isRetired.store(true, ordering: .relaxed)
        if case .http2(let connection) = wire { connection.execute { $0.retire() } }
    }
}

extension NIOLoopBound {
    /// Runs at once on the value's event loop, or else as soon as the loop comes to it.
    func execute(_ body: @escaping @Sendable (Value) -> Void) {
        if eventLoop.inEventLoop {
            body(value)
        } else {
            eventLoop.execute { body(value) }
        }
    }
}
