internal import LinnetMessages
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The connections of a transport and the requests that wait for one.
///
/// A request takes a place on a connection from a ``PoolShard``, each of which has its own lock, and returns it there.
/// The pool's lock is only taken while requests wait or when connections open and close; no I/O and no resuming of
/// tasks happens under it. If both locks are needed, they are taken one after the other, never nested.
final class ConnectionPool: Sendable {
    /// A place on a connection.
    struct Lease {
        let connection: HTTPConnection
        /// The failed attempts to open one while the request waited.
        var tries: [TransportMetrics] = []
    }

    enum LeaseOutcome {
        case lease(Lease)
        /// The terms were replaced; ask again.
        case askAgain([TransportMetrics])
        case failed(TransportError)
    }

    /// How the wait of a request ends.
    enum WaitEnd {
        case connection(HTTPConnection)
        case askAgain
        case failed(TransportError)
    }

    struct Waiter {
        let key: PoolKey
        let timeouts: TransportTimeouts
        let continuation: UnsafeContinuation<LeaseOutcome, Never>
        /// Whether the request's timeout ends the wait, rather than the timeout for the wait.
        let endsWithRequest: Bool
        let observer: (any ConnectionObserver)?
        var tries: [TransportMetrics] = []

        func resume(_ end: WaitEnd) {
            observer?.connectionDidChange(ConnectionEvent(.requestStoppedWaiting, of: key.origin))
            switch end {
            case .connection(let connection):
                continuation.resume(returning: .lease(Lease(connection: connection, tries: tries)))
            case .askAgain:
                continuation.resume(returning: .askAgain(tries))
            case .failed(var error):
                error.attempts = tries
                continuation.resume(returning: .failed(error))
            }
        }
    }

    struct State {
        var machine: PoolStateMachine<PoolKey>
        var terms: ConnectionTerms
        var waiters: [UInt64: Waiter] = [:]
        var deadlines = WaitDeadlines()
        var timer: Scheduled<Void>?
        var useless = UselessConnections<PoolKey>()
        /// Every open connection, and every attempt to open one.
        var open: [UInt64: HTTPConnection] = [:]
        var attempts: [UInt64: ConnectAttempt] = [:]
        /// The connections that accept no more requests.
        var draining: Set<UInt64> = []
        /// Closes unused connections, or lets them rest.
        var idleTimer: Scheduled<Void>?
        var isShutDown = false
        var drained: [UnsafeContinuation<Void, Never>] = []

        /// Whether the pool was shut down, and no connection and no request is left.
        var isDrained: Bool { isShutDown && machine.isEmpty }

        /// Removes a waiter. With `cancelling`, also from the state machine, which otherwise has already removed it.
        mutating func removeWaiter(_ id: UInt64, cancelling: Bool = false) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            deadlines.remove(id)
            if cancelling { _ = machine.cancel(id, key: waiter.key) }
            return waiter
        }

        /// Records a failed attempt to open a connection for these waiters.
        mutating func note(_ metrics: TransportMetrics, for ids: [UInt64]) {
            for id in ids { waiters[id]?.tries.append(metrics) }
        }
    }

    /// How long a connection is unused before it frees its buffers.
    static let restTime = TimeAmount.seconds(1)

    let connector: any ConnectionOpener
    let idleTimeout: TimeAmount
    let shards: [PoolShard]
    let policy = RepeatPolicy()
    /// Whether connections use HTTP/1.1 even where servers and the configuration allow HTTP/2.
    let onlyHTTP1: Bool
    private let observer: (any ConnectionObserver)?
    /// When the timer for unused connections is due; read without the lock for each answered request.
    let idleTimerDue = Atomic(UInt64.max)
    /// Whether there may be useless connections; read without the lock for each answered request.
    let hasUseless = Atomic(false)
    private let state: Mutex<State>
    /// The number of waiting requests; read without the lock when a place is returned.
    private let waiting = Atomic(0)
    private let nextWaiter = Atomic<UInt64>(1)
    let numbers: ConnectionNumbers
    private let nextShard = Atomic(0)

    init(
        connector: any ConnectionOpener, configuration: TransportConfiguration, onlyHTTP1: Bool = false,
        numbers: ConnectionNumbers = ConnectionNumbers()
    ) {
        self.connector = connector
        self.onlyHTTP1 = onlyHTTP1
        self.numbers = numbers
        observer = configuration.connectionObserver
        idleTimeout = TimeAmount(configuration.pool.idleTimeout)
        let terms = ConnectionTerms(configuration.securityPolicy, configuration.clientIdentities)
        shards = connector.eventLoops.map { PoolShard($0, terms: terms) }
        let machine = PoolStateMachine<PoolKey>(
            limits: configuration.pool, multiplexedPerOrigin: configuration.http2.maximumConnectionsPerOrigin)
        state = Mutex(State(machine: machine, terms: terms))
    }

    /// The time of the event loops.
    var now: NIODeadline { connector.eventLoop.now }

    /// Whether the connections to an origin may be multiplexed, as far as is known.
    func multiplexing(_ origin: Origin) -> PoolStateMachine<PoolKey>.Multiplexing {
        onlyHTTP1 ? .never : connector.multiplexing(origin)
    }

    var openConnections: Int { state.withLock { $0.machine.connections } }

    /// Changes the state under the pool's lock.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state)
            // Sequentially consistent, so that a request that begins to wait and a place that is returned cannot both
            // miss each other.
            waiting.store(state.machine.waiters, ordering: .sequentiallyConsistent)
            return result
        }
    }

    var hasWaiters: Bool { waiting.load(ordering: .sequentiallyConsistent) > 0 }

    /// The shard to search first: the caller's event loop, or else each in turn.
    private var nearestShard: Int {
        if let current = MultiThreadedEventLoopGroup.currentEventLoop {
            if let index = shards.firstIndex(where: { $0.eventLoop === current }) { return index }
        }
        return anyShard
    }

    private var anyShard: Int {
        Int(UInt(bitPattern: nextShard.add(1, ordering: .relaxed).oldValue) % UInt(shards.count))
    }

    /// The shard of a new connection: the caller's event loop, or else each in turn.
    func shard(nearCaller: Bool) -> PoolShard {
        shards[nearCaller ? nearestShard : anyShard]
    }

    // MARK: Requests

    /// Takes a place on a connection to the origin under the current terms; nil if the request has to wait.
    @inline(never)
    func takeOpenPlace(_ request: PoolRequest) throws(TransportError) -> HTTPConnection? {
        while let connection = try takePlace(request.origin, via: request.proxy) {
            // A connection that has just ended may not have left the pool yet.
            if connection.isOpen { return connection }
        }
        return nil
    }

    /// Waits for a place on a connection to the origin under the current terms.
    @inline(never)
    func lease(_ request: PoolRequest) async throws(TransportError) -> Lease {
        var tries: [TransportMetrics] = []
        // One for all waits, also if the terms are replaced meanwhile.
        let end = PoolWaitEnd(of: request, from: now)
        while true {
            let outcome = await wait(for: request, until: end)
            if let lease = try lease(of: outcome, request, after: &tries) { return lease }
        }
    }

    // Not inlined: its temporary values would be part of the frame of a request that waits.

    /// Returns the place that a request has waited for; nil if it must wait again.
    @inline(never)
    private func lease(
        of outcome: LeaseOutcome, _ request: PoolRequest, after tries: inout [TransportMetrics]
    ) throws(TransportError) -> Lease? {
        switch outcome {
        case .lease(let lease):
            return Lease(connection: lease.connection, tries: tries + lease.tries)
        case .askAgain(let more):
            tries += more
            do {
                return try takeOpenPlace(request).map { Lease(connection: $0, tries: tries) }
            } catch {
                throw error.following(tries)
            }
        case .failed(let error):
            throw error.following(tries)
        }
    }

    private func takePlace(_ origin: Origin, via proxy: ProxyServer?) throws(TransportError) -> HTTPConnection? {
        // Otherwise new requests could overtake waiting ones for as long as the load lasts.
        if hasWaiters, change({ $0.machine.hasWaiters(PoolKey(origin, via: proxy, under: $0.terms)) }) { return nil }
        // A connection of the caller's own event loop runs the request without a change of threads.
        let first = nearestShard
        for offset in 0..<shards.count {
            switch shards[(first + offset) % shards.count].take(origin, via: proxy) {
            case .connection(let connection): return connection
            case .refused(let error): throw error
            case .none: continue
            }
        }
        return nil
    }

    private func wait(for request: PoolRequest, until end: PoolWaitEnd) async -> LeaseOutcome {
        // The ID precedes the continuation, because the cancellation handler needs it and may run first.
        let id = nextWaiter.add(1, ordering: .relaxed).oldValue
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                enqueue(id, request, until: end, continuation)
            }
        } onCancel: {
            giveUp(id, .readerCancelled)
        }
    }

    private func enqueue(
        _ id: UInt64, _ request: PoolRequest, until end: PoolWaitEnd,
        _ continuation: UnsafeContinuation<LeaseOutcome, Never>
    ) {
        enum Step {
            case fail(TransportError)
            case wait(PoolKey, PoolStateMachine<PoolKey>.WaitAction, timer: NIODeadline?)
        }
        let (origin, proxy) = (request.origin, request.proxy)
        // Without the pool's lock, since it takes one of its own.
        let multiplexing = multiplexing(origin)
        // Before the wait can end on another thread, so that no observer counts fewer than none.
        observer?.connectionDidChange(ConnectionEvent(.requestWaits, of: origin))
        let step = change { state -> Step in
            if state.isShutDown { return .fail(.shutDown) }
            // The cancellation handler may have run before the waiter existed, and found nothing to end.
            if Task.isCancelled { return .fail(.readerCancelled) }
            // The terms may have been replaced since the shards were searched.
            if let refusal = state.terms.refusal(of: origin) { return .fail(refusal) }
            // Under the lock: a replacement of the terms either finds this waiter or comes before its key.
            let key = PoolKey(origin, via: proxy, under: state.terms)
            state.waiters[id] = Waiter(
                key: key, timeouts: request.timeouts, continuation: continuation,
                endsWithRequest: end.endsWithRequest, observer: observer)
            let timer = end.due == .distantFuture ? nil : state.deadlines.add(id, end.due)
            let action = state.machine.wait(
                id, for: key, multiplexing, priority: request.priority, since: request.arrival)
            return .wait(key, action, timer: timer)
        }
        switch step {
        case .fail(let error):
            observer?.connectionDidChange(ConnectionEvent(.requestStoppedWaiting, of: origin))
            continuation.resume(returning: .failed(error))
        case .wait(let key, let action, let timer):
            if let timer { armWaitTimer(at: timer) }
            // After unlocking, and once the waiter exists: the observer may change its priority at once.
            request.observer?.willWait(WaitingPlace { self.setPriority($0, of: id) })
            switch action {
            case .connect: connect(key, request.timeouts, nearCaller: true)
            case .evict: evict(for: key, request.timeouts)
            case .wait: break
            }
            // A place may have been returned before this waiter was visible.
            if case .connection(let connection) = shards.lazy.map({ $0.take(origin, via: proxy) }).first(
                where: \.isConnection)
            {
                offer(connection)
            }
        }
    }

    private func setPriority(_ priority: RequestPriority, of id: UInt64) {
        change { state in
            guard let key = state.waiters[id]?.key else { return }
            state.machine.setPriority(priority, of: id, key: key)
        }
    }

    private func armWaitTimer(at due: NIODeadline) {
        // Without the pool's lock, since the event loop takes one of its own. Weak, because a shared event loop would
        // keep a released pool until the timer is due.
        let timer = connector.eventLoop.scheduleTask(deadline: due) { [weak self] () -> Void in self?.expireWaiters() }
        let superfluous = change { state -> Scheduled<Void>? in
            // An earlier timer may have been set meanwhile.
            guard state.deadlines.armed == due, !state.isDrained else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        superfluous?.cancel()
    }

    private func expireWaiters() {
        let now = now
        let (waiters, next) = change { state in
            let (expired, next) = state.deadlines.expire(now: now)
            return (expired.compactMap { state.removeWaiter($0, cancelling: true) }, next)
        }
        if let next { armWaitTimer(at: next) }
        // Outside of the lock: resuming may run the request's code on this thread.
        for waiter in waiters { waiter.resume(.failed(waiter.endsWithRequest ? .requestTimeout : .poolTimeout)) }
        if !waiters.isEmpty { resumeIfDrained() }
    }

    private func giveUp(_ id: UInt64, _ error: TransportError) {
        let waiter = change { $0.removeWaiter(id, cancelling: true) }
        waiter?.resume(.failed(error))
        if waiter != nil { resumeIfDrained() }
    }

    // MARK: Places

    /// Called when a server has answered a request on a connection.
    func served(on connection: HTTPConnection) {
        guard hasUseless.load(ordering: .relaxed) else { return }
        change { state in
            state.useless.forget(connection.key)
            hasUseless.store(!state.useless.isEmpty, ordering: .relaxed)
        }
    }

    /// Called when an exchange has ended and its connection can take another.
    func placeFreed(_ connection: HTTPConnection) {
        if hasWaiters { offer(connection) } else { giveBack(connection) }
    }

    /// Gives a free place to the first waiting request, or returns it to the shelf.
    func offer(_ connection: HTTPConnection) {
        // A place is not reused if its connection retires, or runs more exchanges than its server allows.
        guard connection.shard.hasRoom(besidesOnePlaceOf: connection) else { return giveBack(connection) }
        let isUnused = connection.shard.isUnused(besidesOnePlaceOf: connection)
        let now = connection.shard.eventLoop.now
        let (action, waiter) = change { state -> (PoolStateMachine<PoolKey>.ReleaseAction, Waiter?) in
            // Giving it back closes a connection that is outdated or too old, so it must not go to a waiter.
            guard connection.isValid(under: state.terms), !connection.isWornOut(now) else { return (.keep, nil) }
            let action = state.machine.release(connection.key, isUnused: isUnused)
            guard case .hand(let id) = action else { return (action, nil) }
            return (action, state.removeWaiter(id))
        }
        switch action {
        case .hand: waiter?.resume(.connection(connection))
        case .keep: giveBack(connection)
        case .close: closeForRoom(connection)
        }
    }

    /// Closes a connection on which only the caller has a place.
    private func closeForRoom(_ connection: HTTPConnection) {
        guard connection.isMultiplexed else { return connection.close(.evicted) }
        // Another thread may have taken a place meanwhile. The connection is then offered again when it is returned.
        if shelve(connection) { evictUnused(connection) }
    }

    /// Closes a connection of the shelf if it is still unused.
    private func evictUnused(_ connection: HTTPConnection) {
        if connection.shard.takeUnused(connection) { connection.close(.evicted) }
    }

    private func giveBack(_ connection: HTTPConnection) {
        // A request that started to wait meanwhile has searched the shelf before this place was on it.
        if shelve(connection) { offerShelved(connection) }
    }

    /// Returns a place to the shelf. Returns false if the connection must not be used again.
    private func shelve(_ connection: HTTPConnection) -> Bool {
        let now = connection.shard.eventLoop.now
        switch connection.shard.giveBack(connection, now: now) {
        case .close:
            connection.close(.retired)
        // Another one may be opened before its exchanges have ended.
        case .retire:
            connection.retire()
        case .ignored:
            break
        case .kept:
            armIdleTimer(from: now)
            return true
        }
        return false
    }

    /// Sets the timer for a connection that has become unused.
    func armIdleTimer(from now: NIODeadline) {
        armIdleTimer(at: now + min(idleTimeout, Self.restTime))
    }

    /// Sets the timer for unused connections, unless it is due by then.
    func armIdleTimer(at due: NIODeadline) {
        guard due.uptimeNanoseconds < idleTimerDue.load(ordering: .acquiring) else { return }
        // Before the timer is set, which may fire at once and resets the time.
        let isNext = change { state -> Bool in
            guard !state.isShutDown, due.uptimeNanoseconds < idleTimerDue.load(ordering: .acquiring) else {
                return false
            }
            idleTimerDue.store(due.uptimeNanoseconds, ordering: .releasing)
            return true
        }
        guard isNext else { return }
        // Weak, because a shared event loop would keep a released pool until the timer is due.
        let timer = connector.eventLoop.scheduleTask(deadline: due) { [weak self] () -> Void in self?.expireIdle() }
        let superfluous = change { state -> Scheduled<Void>? in
            // It has fired, or an earlier one was set meanwhile.
            guard !state.isShutDown, due.uptimeNanoseconds == idleTimerDue.load(ordering: .acquiring) else {
                return timer
            }
            defer { state.idleTimer = timer }
            return state.idleTimer
        }
        superfluous?.cancel()
    }

    /// Offers a place on a connection of the shelf to waiting requests, if one of them needs the place or its room.
    ///
    /// A connection that is in use makes no room: its place would return to the shelf, and be offered again without
    /// end.
    private func offerShelved(_ connection: HTTPConnection) {
        guard hasWaiters else { return }
        let isUnused = connection.shard.isUnused(connection)
        guard change({ $0.machine.needsPlace(of: connection.key, isUnused: isUnused) }) else { return }
        if connection.shard.take(connection) { return offer(connection) }
        // Its server allows no exchange for now, and another origin needs the room.
        if change({ $0.machine.needsRoom(of: connection.key, isUnused: isUnused) }) { evictUnused(connection) }
    }

    /// Gives newly allowed places of a connection to waiting requests, or its room if it is unused.
    func serveWaiters(from connection: HTTPConnection) {
        while hasWaiters, change({ $0.machine.hasWaiters(connection.key) }), connection.shard.take(connection) {
            offer(connection)
        }
        guard connection.shard.isUnused(connection) else { return }
        armIdleTimer(from: connection.shard.eventLoop.now)
        offerShelved(connection)
    }
}

extension PoolShard.Finding {
    var isConnection: Bool {
        if case .connection = self { true } else { false }
    }
}

/// Numbers the connections of a transport, and the attempts to open them, from 1 on.
final class ConnectionNumbers: Sendable {
    private let last = Atomic<UInt64>(0)

    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

/// A request's demand on the pool.
struct PoolRequest {
    let origin: Origin
    var proxy: ProxyServer?
    let timeouts: TransportTimeouts
    /// The end of the request.
    var deadline: NIODeadline?
    var priority = RequestPriority.normal
    /// When the request was made; it keeps its place when it is repeated.
    var arrival = Tick.earliest
    var observer: (any TransportObserver)?
}

/// When a request stops waiting for a connection.
private struct PoolWaitEnd {
    let due: NIODeadline
    /// Whether the request itself ends then, and not only the wait.
    let endsWithRequest: Bool

    init(of request: PoolRequest, from now: NIODeadline) {
        let end = request.timeouts.poolWait.map { .after($0, from: now) } ?? NIODeadline.distantFuture
        due = min(end, request.deadline ?? .distantFuture)
        endsWithRequest = request.deadline.map { $0 <= end } ?? false
    }
}
