internal import LinnetSecurity
internal import NIOCore
internal import Synchronization

/// A connection to an origin, with access to its event loop.
final class HTTPConnection: Sendable, ShelvedConnection {
    /// The protocol handler that runs the exchanges.
    enum Wire {
        case http1(NIOLoopBound<HTTP1Handler>)
        case http2(NIOLoopBound<HTTP2Connection>)
    }

    let id: UInt64
    let key: PoolKey
    let pool: ConnectionPool
    /// The shard of its free places.
    let shard: PoolShard
    private let channel: any Channel
    private let wire: Wire
    /// The number of concurrent exchanges that the server allows, as far as is known.
    private let knownCapacity: Atomic<Int>
    /// The metrics of opening it; each exchange's metrics start as a copy.
    private let opening: TransportMetrics
    private let retiresAt: NIODeadline
    private let observer: (any ConnectionObserver)?
    private let openedAt = Tick.now
    /// The late TLS failure; nil for plain HTTP.
    private let lateFailure: TLSLateFailure?
    private let isRetired = Atomic(false)
    private let use = Mutex(ConnectionUse())
    private let wasUseless = Atomic(false)
    /// The revision of the terms under which it was last approved.
    private let approvedRevision: Atomic<UInt64>

    init(
        id: UInt64, key: PoolKey, pool: ConnectionPool, shard: PoolShard, terms: ConnectionTerms, channel: any Channel,
        wire: Wire,
        capacity: Int, opening: TransportMetrics, maximumAge: Duration?, lateFailure: TLSLateFailure? = nil,
        observer: (any ConnectionObserver)? = nil
    ) {
        self.id = id
        self.key = key
        self.pool = pool
        self.shard = shard
        self.channel = channel
        self.wire = wire
        knownCapacity = Atomic(capacity)
        self.opening = opening
        self.lateFailure = lateFailure
        approvedRevision = Atomic(terms.revision)
        retiresAt = maximumAge.map { .after($0, from: channel.eventLoop.now) } ?? .distantFuture
        self.observer = observer
        report(.opened)
    }

    private func report(_ kind: ConnectionEvent.Kind?) {
        guard let observer, let kind else { return }
        observer.connectionDidChange(ConnectionEvent(kind, of: key.origin, id: id, opening.facts))
    }

    var isOpen: Bool { channel.isActive }

    /// The number of concurrent exchanges that the server allows, as far as is known.
    var capacity: Int { knownCapacity.load(ordering: .relaxed) }

    var isMultiplexed: Bool {
        switch wire {
        case .http1: false
        case .http2: true
        }
    }

    /// Records that the connection is idle.
    func layAside() {
        use.withLock { $0.layAside() }
    }

    /// Records the end of an exchange.
    func recordEnd() {
        let becameIdle = use.withLock { $0.ended() }
        if becameIdle { report(.becameIdle) }
    }

    /// Whether the connection must not be used again. A connection that has not served a request is never too old.
    func isWornOut(_ now: NIODeadline) -> Bool {
        isRetired.load(ordering: .relaxed) || (now >= retiresAt && use.withLock { $0.wasUsed })
    }

    /// Whether the server has processed a request on it: it has answered one, or its GOAWAY says so.
    var hasServed: Bool { use.withLock { $0.hasServed } }

    /// Records a request that the server did not process, as far as is known. Returns true for the first one, if it
    /// processed none.
    func becameUseless() -> Bool {
        guard !hasServed else { return false }
        return !wasUseless.exchange(true, ordering: .relaxed)
    }

    /// Runs an exchange; the caller has leased the connection.
    @inline(never)
    func run(
        _ request: TransportRequest, observer: (any TransportObserver)?, timeouts: TransportTimeouts,
        deadline: NIODeadline?, queuedSince start: Tick, mayAskProxyFirst: Bool = true
    ) async -> HTTPExchange.Outcome {
        let begin = use.withLock { $0.begin() }
        if begin.becameActive { report(.becameActive) }
        let exchange = HTTPExchange(
            request: request, observer: observer, timeouts: timeouts, deadline: deadline,
            mayBeStale: begin.mayBeStale, mayAskProxyFirst: mayAskProxyFirst,
            metrics: opening.beginning(queuedSince: start, isReused: begin.isReused))
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                exchange.waiter = continuation
                self.start(exchange)
            }
        } onCancel: {
            // The flag comes first: an exchange that has not started is not found by `cancel`, and reads the flag when
            // it starts.
            exchange.isCancelled.store(true, ordering: .releasing)
            cancel(exchange)
        }
        switch outcome {
        case .response:
            use.withLock { $0.responded(in: begin.period) }
        // The reason why the connection ended is more specific than its end.
        case .failure(let error, _) where error.code == .connectionClosed:
            guard var reason = lateFailure?.error else { break }
            reason.attempts = error.attempts
            // An alert is an answer: another connection with the same certificate would get it, too.
            return .failure(reason, canRepeat: false)
        case .failure, .withdrawn:
            break
        }
        return outcome
    }

    /// Starts the exchange on the event loop, unless the terms were replaced meanwhile and exclude the connection, or
    /// it became too old while it was idle.
    private func start(_ exchange: HTTPExchange) {
        // Hot path: one closure without another one around it.
        let work: @Sendable () -> Void =
            switch wire {
            case .http1(let handler):
                {
                    if self.admits(exchange) { return handler.value.start(exchange) }
                    exchange.withdraw()
                    handler.value.shutDown(.retired)
                }
            case .http2(let connection):
                {
                    if self.admits(exchange) { return connection.value.start(exchange) }
                    // First, so that the next search of its caller does not find the connection again.
                    self.retire()
                    exchange.withdraw()
                }
            }
        if channel.eventLoop.inEventLoop { work() } else { channel.eventLoop.execute(work) }
    }

    /// Whether it may be used under the current terms.
    func isValid(under terms: ConnectionTerms) -> Bool {
        approvedRevision.load(ordering: .relaxed) == terms.revision || key.isValid(under: terms)
    }

    private func admits(_ exchange: HTTPExchange) -> Bool {
        // During a shutdown the exchange would find no other connection.
        if isWornOut(for: exchange), !shard.isShutDown { return false }
        let approved = approvedRevision.load(ordering: .relaxed)
        guard let revision = shard.admits(self, approvedUnder: approved) else { return false }
        if revision != approved { approvedRevision.store(revision, ordering: .relaxed) }
        return true
    }

    /// Whether the connection is too old for an exchange other than its first. The clock is only read if there is a
    /// maximum age.
    private func isWornOut(for exchange: HTTPExchange) -> Bool {
        if isRetired.load(ordering: .relaxed) { return true }
        guard retiresAt < .distantFuture, exchange.metrics.isReusedConnection else { return false }
        return channel.eventLoop.now >= retiresAt
    }

    private func cancel(_ exchange: HTTPExchange) {
        switch wire {
        case .http1(let handler): handler.execute { $0.cancel(exchange, .readerCancelled) }
        case .http2(let connection): connection.execute { $0.cancel(exchange, .readerCancelled) }
        }
    }

    /// Frees the memory that is only needed for exchanges, if there are none.
    func rest() {
        switch wire {
        case .http1(let handler): handler.execute { $0.rest() }
        case .http2(let connection): connection.execute { $0.rest() }
        }
    }

    /// Closes the connection and fails its exchanges.
    func close(_ error: TransportError) {
        switch wire {
        case .http1(let handler): handler.execute { $0.shutDown(error) }
        case .http2(let connection): connection.execute { $0.shutDown(error) }
        }
    }

    /// Stops using the connection, and closes it after its exchanges.
    func retire() {
        isRetired.store(true, ordering: .relaxed)
        // An HTTP/1.1 connection has one exchange at most, and the flag is read when its place is returned.
        if case .http2(let connection) = wire { connection.execute { $0.retire() } }
    }
}

extension NIOLoopBound {
    /// Runs immediately on the value's event loop, or enqueues there.
    func execute(_ body: @escaping @Sendable (Value) -> Void) {
        if eventLoop.inEventLoop {
            body(value)
        } else {
            eventLoop.execute { body(value) }
        }
    }
}

/// The reports of a connection's protocol handler, on the connection's event loop.
protocol ConnectionOwner: AnyObject, Sendable {
    /// An exchange has ended, or was not started: the connection has room for another one.
    func exchangeEnded()
    /// The new maximum number of concurrent exchanges. With 0, the next one waits until the server changes it (RFC
    /// 9113, 5.1.2).
    func capacityChanged(_ capacity: Int)
    /// The connection accepts no more exchanges, and closes after the last one.
    func isRetiring()
    /// The exchanges are about to end with the connection, which accepts no more of them and then closes.
    func isEnding()
    /// The server has processed an exchange, or is processing it, although others were in vain (RFC 9113, 6.8).
    func hasProcessed()
    /// The server requires HTTP/1.1 (RFC 9113, 7). Returns false if the configuration does not allow it.
    func requiresHTTP1() -> Bool
    /// The connection has closed.
    func closed()
}

extension HTTPConnection: ConnectionOwner {
    func exchangeEnded() {
        recordEnd()
        pool.placeFreed(self)
    }

    func capacityChanged(_ capacity: Int) {
        knownCapacity.store(capacity, ordering: .relaxed)
        pool.capacityChanged(self, capacity)
    }

    func isRetiring() { pool.isRetiring(self) }

    // No other connection is opened in its place yet: its room is free once it has closed.
    func isEnding() { shard.retire(self) }

    func hasProcessed() {
        use.withLock { $0.processed() }
    }

    func requiresHTTP1() -> Bool { pool.connector.requiresHTTP1(key.origin) }

    func closed() {
        if let wasActive = use.withLock({ $0.close() }) {
            report(.closed(age: .zero - openedAt.timeLeft, wasActive: wasActive))
        }
        pool.closed(self)
    }
}

/// The use of a connection so far, and whether the server may have closed it before the next request. Pure.
///
/// A server can close an idle connection at any time, and the client notices it too late (RFC 9112, 9.3.1). A
/// connection counts as possibly stale from its first request after an idle time until the server answers one. A
/// connection opened for a request is fresh, for all requests that share it from the start: its end is not caused by
/// idleness.
struct ConnectionUse {
    private var exchanges = 0
    private var running = 0
    private var hasLainIdle = false
    private var mayBeStale = false
    /// The number of periods of use, separated by idle times.
    private var period = 0
    /// Whether the server has processed a request on it.
    private(set) var hasServed = false
    private var isClosed = false

    /// Whether a request was sent on it.
    var wasUsed: Bool { exchanges > 0 }

    /// Starts a request.
    mutating func begin() -> (isReused: Bool, mayBeStale: Bool, period: Int, becameActive: Bool) {
        if running == 0 {
            mayBeStale = exchanges > 0 || hasLainIdle
            period += 1
        }
        defer {
            exchanges += 1
            running += 1
        }
        return (exchanges > 0, mayBeStale, period, running == 0 && !isClosed)
    }

    /// Records an answer to a request of a period of use.
    mutating func responded(in period: Int) {
        hasServed = true
        // A late answer to a request before the idle time does not show that the server is still there.
        if period == self.period { mayBeStale = false }
    }

    /// Records that the server processes a request, which it need not have answered yet.
    mutating func processed() {
        hasServed = true
    }

    /// Ends a request. Returns true if it was the last one on an open connection.
    @discardableResult
    mutating func ended() -> Bool {
        guard running > 0 else { return false }
        running -= 1
        return running == 0 && !isClosed
    }

    /// Ends the connection. Returns whether requests were running on it; nil if it had ended before.
    mutating func close() -> Bool? {
        guard !isClosed else { return nil }
        isClosed = true
        return running > 0
    }

    /// Records that the connection is idle.
    mutating func layAside() {
        hasLainIdle = true
    }
}
