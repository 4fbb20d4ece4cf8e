internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The connections of a transport, and the requests that wait for one.
///
/// A request takes a place on a connection from a ``PoolShard``, each of which has a lock of its own, and gives it back
/// there. Only while somebody waits, or a connection comes or goes, is the pool's own lock taken; it is held for neither
/// I/O nor resuming a task. Where both are needed they are taken one after the other, never one inside the other.
final class ConnectionPool: Sendable {
    /// A place on a connection.
    struct Lease {
        let connection: HTTPConnection
        /// What was tried in vain to open one, while the request waited.
        var tries: [TransportMetrics] = []
    }

    enum LeaseOutcome {
        case lease(Lease)
        /// The terms were replaced meanwhile.
        case askAgain([TransportMetrics])
        case failed(TransportError)
    }

    /// What becomes of a request that waits.
    enum WaitEnd {
        case connection(HTTPConnection)
        case askAgain
        case failed(TransportError)
    }

    struct Waiter {
        let key: PoolKey
        let timeouts: TransportTimeouts
        let continuation: UnsafeContinuation<LeaseOutcome, Never>
        /// Whether it is the whole request's timeout that ends the wait, and not the one for the wait.
        let endsWithRequest: Bool
        var tries: [TransportMetrics] = []

        func resume(_ end: WaitEnd) {
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
        /// Every open connection, and every one that is being opened.
        var open: [UInt64: HTTPConnection] = [:]
        var attempts: [UInt64: ConnectAttempt] = [:]
        /// Those that take no more requests.
        var draining: Set<UInt64> = []
        var nextID: UInt64 = 1
        var isShutDown = false
        var drained: [UnsafeContinuation<Void, Never>] = []

        mutating func makeID() -> UInt64 {
            defer { nextID += 1 }
            return nextID
        }

        /// A request waits no more; of its own accord, so that the line has still to hear of it, or because the line says so.
        mutating func removeWaiter(_ id: UInt64, cancelling: Bool = false) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            deadlines.remove(id)
            if cancelling { _ = machine.cancel(id, key: waiter.key) }
            return waiter
        }

        /// A connection could not be opened for these.
        mutating func note(_ metrics: TransportMetrics, for ids: [UInt64]) {
            for id in ids { waiters[id]?.tries.append(metrics) }
        }
    }

    let connector: Connector
    let idleTimeout: TimeAmount
    let shards: [PoolShard]
    let policy = RepeatPolicy()
    let hasIdleTimer = Atomic(false)
    /// Whether there may be connections that were of no use; read without the lock by each request that is answered.
    let hasUseless = Atomic(false)
    private let state: Mutex<State>
    /// How many requests wait; read without the lock by whoever gives a place back.
    private let waiting = Atomic(0)
    private let nextShard = Atomic(0)

    init(connector: Connector, configuration: TransportConfiguration) {
        self.connector = connector
        idleTimeout = TimeAmount(configuration.pool.idleTimeout)
        let terms = ConnectionTerms(configuration.securityPolicy, configuration.clientIdentities)
        shards = connector.eventLoops.map { PoolShard($0, terms: terms) }
        let machine = PoolStateMachine<PoolKey>(
            limits: configuration.pool, multiplexedPerOrigin: configuration.http2.maximumConnectionsPerOrigin)
        state = Mutex(State(machine: machine, terms: terms))
    }

    var openConnections: Int { state.withLock { $0.machine.connections } }

    /// Changes what the pool's lock guards.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state)
            waiting.store(state.machine.waiters, ordering: .sequentiallyConsistent)
            return result
        }
    }

    var hasWaiters: Bool { waiting.load(ordering: .sequentiallyConsistent) > 0 }

    /// Where to begin to look: at the event loop on which the caller runs, or else at each in turn.
    private var nearestShard: Int {
        if let current = MultiThreadedEventLoopGroup.currentEventLoop {
            if let index = shards.firstIndex(where: { $0.eventLoop === current }) { return index }
        }
        return anyShard
    }

    private var anyShard: Int {
        Int(UInt(bitPattern: nextShard.add(1, ordering: .relaxed).oldValue) % UInt(shards.count))
    }

    /// Where a connection is to live: near the request that needs it, or else on each event loop in turn.
    func shard(nearCaller: Bool) -> PoolShard {
        shards[nearCaller ? nearestShard : anyShard]
    }

    // MARK: Requests

    /// A place on a connection to the origin, under the terms that hold now.
    func lease(
        _ origin: Origin, timeouts: TransportTimeouts, deadline: NIODeadline?,
        observer: (any TransportObserver)? = nil
    ) async throws(TransportError) -> Lease {
        var tries: [TransportMetrics] = []
        while true {
            do {
                if let connection = try takePlace(origin) {
                    // One that ended a moment ago is still on its way out of the pool.
                    if connection.isOpen { return Lease(connection: connection, tries: tries) }
                    continue
                }
            } catch {
                throw error.following(tries)
            }
            switch await wait(origin, timeouts: timeouts, deadline: deadline, observer) {
            case .lease(let lease): return Lease(connection: lease.connection, tries: tries + lease.tries)
            case .askAgain(let more): tries += more
            case .failed(let error): throw error.following(tries)
            }
        }
    }

    private func takePlace(_ origin: Origin) throws(TransportError) -> HTTPConnection? {
        let isContended =
            hasWaiters && change { $0.machine.hasWaiters(PoolKey(origin, under: $0.terms)) }
        let first = nearestShard
        for offset in 0..<shards.count {
            switch shards[(first + offset) % shards.count].take(origin) {
            case .connection(let connection):
                guard isContended else { return connection }
                // Whoever waits came first.
                offer(connection)
                return nil
            case .refused(let error): throw error
            case .none: continue
            }
        }
        return nil
    }

    private func wait(
        _ origin: Origin, timeouts: TransportTimeouts, deadline: NIODeadline?, _ observer: (any TransportObserver)?
    ) async -> LeaseOutcome {
        let id = change { $0.makeID() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                enqueue(id, origin, timeouts, deadline, observer, continuation)
            }
        } onCancel: {
            giveUp(id, .readerCancelled)
        }
    }

    private func enqueue(
        _ id: UInt64, _ origin: Origin, _ timeouts: TransportTimeouts, _ deadline: NIODeadline?,
        _ observer: (any TransportObserver)?, _ continuation: UnsafeContinuation<LeaseOutcome, Never>
    ) {
        enum Step {
            case fail(TransportError)
            case wait(PoolKey, PoolStateMachine<PoolKey>.WaitAction, timer: NIODeadline?)
        }
        let priority = observer?.priority ?? .normal
        let poolDeadline = timeouts.poolWait.map { NIODeadline.after($0) } ?? .distantFuture
        let due = min(poolDeadline, deadline ?? .distantFuture)
        let step = change { state -> Step in
            if state.isShutDown { return .fail(.shutDown) }
            if Task.isCancelled { return .fail(.readerCancelled) }
            if let refusal = state.terms.refusal(of: origin) { return .fail(refusal) }
            let key = PoolKey(origin, under: state.terms)
            state.waiters[id] = Waiter(
                key: key, timeouts: timeouts, continuation: continuation, endsWithRequest: due == deadline)
            let timer = due == .distantFuture ? nil : state.deadlines.add(id, due)
            let action = state.machine.wait(id, for: key, connector.multiplexing(origin), priority: priority)
            return .wait(key, action, timer: timer)
        }
        switch step {
        case .fail(let error):
            continuation.resume(returning: .failed(error))
        case .wait(let key, let action, let timer):
            if let timer { armWaitTimer(at: timer) }
            observer?.willWait(WaitingPlace { self.setPriority($0, of: id) })
            switch action {
            case .connect: connect(key, timeouts, nearCaller: true)
            case .evict: evict(for: key, timeouts)
            case .wait: break
            }
            // A place that came free in between has been put on its shelf by somebody who saw nobody wait.
            if case .connection(let connection) = shards.lazy.map({ $0.take(origin) }).first(where: \.isConnection) {
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
        let timer = connector.eventLoop.scheduleTask(deadline: due) { [weak self] () -> Void in self?.expireWaiters() }
        let superfluous = change { state -> Scheduled<Void>? in
            // A sooner one may have been set meanwhile.
            guard state.deadlines.armed == due else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        superfluous?.cancel()
    }

    private func expireWaiters() {
        let now = NIODeadline.now()
        let (waiters, next) = change { state in
            let (expired, next) = state.deadlines.expire(now: now)
            return (expired.compactMap { state.removeWaiter($0, cancelling: true) }, next)
        }
        if let next { armWaitTimer(at: next) }
        for waiter in waiters { waiter.resume(.failed(waiter.endsWithRequest ? .requestTimeout : .poolTimeout)) }
        if !waiters.isEmpty { resumeIfDrained() }
    }

    private func giveUp(_ id: UInt64, _ error: TransportError) {
        let waiter = change { $0.removeWaiter(id, cancelling: true) }
        waiter?.resume(.failed(error))
    }

    // MARK: Places

    /// An exchange is over, and its connection can take another.
    func placeFreed(_ connection: HTTPConnection) {
        if hasWaiters { offer(connection) } else { giveBack(connection) }
    }

    /// Gives a place that nobody has to whoever has waited longest, or puts it on the shelf.
    func offer(_ connection: HTTPConnection) {
        // What ends on a connection that retires, or whose server allows fewer than it runs, is no place for another.
        guard connection.shard.hasRoom(besidesOnePlaceOf: connection) else { return giveBack(connection) }
        let isUnused = connection.shard.isUnused(besidesOnePlaceOf: connection)
        let now = NIODeadline.now()
        let (action, waiter) = change { state -> (PoolStateMachine<PoolKey>.ReleaseAction, Waiter?) in
            guard connection.key.isValid(under: state.terms), !connection.isWornOut(now) else { return (.keep, nil) }
            let action = state.machine.release(connection.key, isUnused: isUnused)
            guard case .hand(let id) = action else { return (action, nil) }
            return (action, state.removeWaiter(id))
        }
        switch action {
        case .hand: waiter?.resume(.connection(connection))
        case .keep: giveBack(connection)
        case .close: connection.close(.evicted)
        }
    }

    private func giveBack(_ connection: HTTPConnection) {
        switch connection.shard.giveBack(connection, now: .now()) {
        case .close: return connection.close(.retired)
        case .ignored: return
        case .kept: armIdleTimer()
        }
        // Who began to wait in between has looked at the shelf before this place lay there.
        guard hasWaiters, change({ $0.machine.needsPlace(of: connection.key) }) else { return }
        if connection.shard.take(connection) { offer(connection) }
    }

    /// Gives away the places that a connection has more than before.
    func serveWaiters(from connection: HTTPConnection) {
        while hasWaiters, change({ $0.machine.hasWaiters(connection.key) }), connection.shard.take(connection) {
            offer(connection)
        }
    }
}

extension PoolShard.Finding {
    var isConnection: Bool {
        if case .connection = self { true } else { false }
    }
}

extension TransportError {
    static var poolTimeout: TransportError { TransportError(.poolTimeout, "No connection became free in time.") }
    static var requestTimeout: TransportError {
        TransportError(.requestTimeout, "The request took longer than its timeout.")
    }
    static var shutDown: TransportError { TransportError(.shutDown, "The session was shut down.") }
    static var evicted: TransportError { TransportError(.connectionClosed, "The connection was no longer used.") }
    static var retired: TransportError { TransportError(.connectionClosed, "The connection was retired.") }

    /// The error with what the attempts before it cost.
    func following(_ earlier: [TransportMetrics]) -> TransportError {
        guard !earlier.isEmpty else { return self }
        var error = self
        error.attempts = earlier + attempts
        return error
    }
}
