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
    /// How many exchanges it may run at a time, as far as was known when it was opened.
    let initialCapacity: Int
    /// What opening it cost and agreed on; each exchange's metrics begin as a copy.
    private let opening: TransportMetrics
    private let retiresAt: NIODeadline
    /// Nil for plain HTTP.
    private let lateFailure: TLSLateFailure?
    private let isRetired = Atomic(false)
    private let use = Mutex(ConnectionUse())
    private let wasUseless = Atomic(false)
    /// Under which terms it was last found that it may serve requests.
    private let approvedRevision: Atomic<UInt64>

    init(
        id: UInt64, key: PoolKey, shard: PoolShard, terms: ConnectionTerms, channel: any Channel, wire: Wire,
        capacity: Int, opening: TransportMetrics, maximumAge: Duration?, lateFailure: TLSLateFailure? = nil
    ) {
        self.id = id
        self.key = key
        self.shard = shard
        self.channel = channel
        self.wire = wire
        initialCapacity = capacity
        self.opening = opening
        self.lateFailure = lateFailure
        approvedRevision = Atomic(terms.revision)
        retiresAt = maximumAge.map { .after($0) } ?? .distantFuture
    }

    var isOpen: Bool { channel.isActive }

    var isMultiplexed: Bool {
        switch wire {
        case .http1: false
        case .http2: true
        }
    }

    /// It waits for a request from now on.
    func layAside() {
        use.withLock { $0.layAside() }
    }

    /// One of its exchanges is over.
    func exchangeEnded() {
        use.withLock { $0.ended() }
    }

    /// Whether it should serve nobody any more. One that has served nobody yet is not too old.
    func isWornOut(_ now: NIODeadline) -> Bool {
        isRetired.load(ordering: .relaxed) || (now >= retiresAt && use.withLock { $0.wasUsed })
    }

    /// Whether the server has answered a request on it.
    var hasServed: Bool { use.withLock { $0.hasServed } }

    /// A request failed on it that the server has not processed, as far as is known; true for the first one, if no other was
    /// ever answered.
    func becameUseless() -> Bool {
        guard !hasServed else { return false }
        return !wasUseless.exchange(true, ordering: .relaxed)
    }

    /// Runs one exchange; the caller has leased the connection.
    func run(
        _ request: TransportRequest, observer: (any TransportObserver)?, timeouts: TransportTimeouts,
        deadline: NIODeadline?, queuedSince start: Tick
    ) async -> HTTPExchange.Outcome {
        let begin = use.withLock { $0.begin() }
        let exchange = HTTPExchange(
            request: request, observer: observer, timeouts: timeouts, deadline: deadline,
            mayBeStale: begin.mayBeStale, metrics: opening.beginning(queuedSince: start, isReused: begin.isReused))
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                exchange.waiter = continuation
                self.start(exchange)
            }
        } onCancel: {
            exchange.isCancelled.store(true, ordering: .releasing)
            cancel(exchange)
        }
        switch outcome {
        case .response:
            use.withLock { $0.responded(in: begin.period) }
        // Why the connection ended is worth more than that it did.
        case .failure(let error, _) where error.code == .connectionClosed:
            guard var reason = lateFailure?.error else { break }
            reason.attempts = error.attempts
            return .failure(reason, canRepeat: false)
        case .failure, .withdrawn:
            break
        }
        return outcome
    }

    /// The last moment before the request goes out: if the terms were replaced since the connection was given to it, and rule
    /// the connection out, it does not.
    private func start(_ exchange: HTTPExchange) {
        // Each request comes by here: one closure, and no other around it.
        let work: @Sendable () -> Void =
            switch wire {
            case .http1(let handler):
                {
                    if self.isAdmitted() { return handler.value.start(exchange) }
                    exchange.withdraw()
                    handler.value.shutDown(.retired)
                }
            case .http2(let connection):
                {
                    if self.isAdmitted() { return connection.value.start(exchange) }
                    exchange.withdraw()
                    connection.value.retire()
                }
            }
        if channel.eventLoop.inEventLoop { work() } else { channel.eventLoop.execute(work) }
    }

    private func isAdmitted() -> Bool {
        let approved = approvedRevision.load(ordering: .relaxed)
        guard let revision = shard.admits(self, approvedUnder: approved) else { return false }
        if revision != approved { approvedRevision.store(revision, ordering: .relaxed) }
        return true
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
