internal import LinnetSecurity
internal import NIOCore
internal import Synchronization

/// The connections of a transport, and the requests that wait for one.
///
/// One lock guards the state machine and the waiters; it is held for neither I/O nor resuming a task.
final class ConnectionPool: Sendable {
    typealias Machine = PoolStateMachine<PoolKey, HTTPConnection>

    enum LeaseOutcome {
        case connection(HTTPConnection)
        /// The security policy was replaced meanwhile.
        case askAgain
        case failed(TransportError)
    }

    private struct Waiter {
        let key: PoolKey
        let timeouts: TransportTimeouts
        let continuation: UnsafeContinuation<LeaseOutcome, Never>
        var timer: Scheduled<Void>?

        func resume(_ outcome: LeaseOutcome) {
            timer?.cancel()
            continuation.resume(returning: outcome)
        }
    }

    private struct State {
        var machine: Machine
        var policy: SecurityPolicy
        var waiters: [UInt64: Waiter] = [:]
        /// Every open connection, and every one that is being opened, for an immediate shutdown.
        var open: [UInt64: HTTPConnection] = [:]
        var attempts: [UInt64: ConnectAttempt] = [:]
        var nextID: UInt64 = 1
        var isShutDown = false
        var hasIdleTimer = false
        var drained: [UnsafeContinuation<Void, Never>] = []

        func key(of origin: Origin) -> PoolKey {
            PoolKey(origin: origin, policy: origin.isSecure ? policy.identity : nil)
        }
    }

    private let connector: Connector
    private let idleTimeout: TimeAmount
    private let state: Mutex<State>

    init(connector: Connector, limits: TransportConfiguration.PoolLimits, policy: SecurityPolicy) {
        self.connector = connector
        idleTimeout = TimeAmount(limits.idleTimeout)
        state = Mutex(State(machine: Machine(limits: limits), policy: policy))
    }

    var openConnections: Int { state.withLock { $0.machine.connections } }

    // MARK: Requests

    /// A connection to the origin, under the policy that holds now.
    func lease(
        _ origin: Origin, timeouts: TransportTimeouts, deadline: NIODeadline?
    ) async throws(TransportError) -> HTTPConnection {
        while true {
            if let connection = try leaseIdle(origin) {
                // One that ended a moment ago is still on its way out of the pool.
                if connection.isOpen { return connection }
                continue
            }
            switch await wait(origin, timeouts: timeouts, deadline: deadline) {
            case .connection(let connection): return connection
            case .askAgain: continue
            case .failed(let error): throw error
            }
        }
    }

    private func leaseIdle(_ origin: Origin) throws(TransportError) -> HTTPConnection? {
        let (connection, isShutDown, isRefused) = state.withLock { state in
            if state.policy.isPinning && !origin.isSecure && state.policy.isPinning(host: origin.host) {
                return (nil as HTTPConnection?, state.isShutDown, true)
            }
            return (state.machine.takeIdle(state.key(of: origin)), state.isShutDown, false)
        }
        if isRefused {
            throw TransportError(
                .cleartextRefused, "The policy pins \(origin.host): a request to it must be https, not http.")
        }
        if isShutDown {
            if let connection { release(connection) }
            throw .shutDown
        }
        return connection
    }

    private func wait(
        _ origin: Origin, timeouts: TransportTimeouts, deadline: NIODeadline?
    ) async -> LeaseOutcome {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                enqueue(id, origin, timeouts, deadline, continuation)
            }
        } onCancel: {
            giveUp(id, .readerCancelled)
        }
    }

    private func enqueue(
        _ id: UInt64, _ origin: Origin, _ timeouts: TransportTimeouts, _ deadline: NIODeadline?,
        _ continuation: UnsafeContinuation<LeaseOutcome, Never>
    ) {
        enum Step {
            case resume(LeaseOutcome)
            case wait(connect: PoolKey?, SecurityPolicy, close: HTTPConnection?)
        }
        let step = state.withLock { state -> Step in
            if state.isShutDown { return .resume(.failed(.shutDown)) }
            if Task.isCancelled { return .resume(.failed(.readerCancelled)) }
            let key = state.key(of: origin)
            let action = state.machine.lease(key, waiter: id)
            if case .use(let connection) = action { return .resume(.connection(connection)) }
            state.waiters[id] = Waiter(key: key, timeouts: timeouts, continuation: continuation)
            switch action {
            case .use, .wait: return .wait(connect: nil, state.policy, close: nil)
            case .connect: return .wait(connect: key, state.policy, close: nil)
            case .closeAndConnect(let victim): return .wait(connect: key, state.policy, close: victim)
            }
        }
        switch step {
        case .resume(let outcome):
            continuation.resume(returning: outcome)
        case .wait(let key, let policy, let victim):
            armTimer(id, timeouts, deadline)
            victim?.close(.evicted)
            if let key { connect(key, policy, timeouts) }
        }
    }

    private func armTimer(_ id: UInt64, _ timeouts: TransportTimeouts, _ deadline: NIODeadline?) {
        let poolDeadline = timeouts.poolWait.map { NIODeadline.after($0) }
        guard let due = [poolDeadline, deadline].compactMap({ $0 }).min() else { return }
        let error =
            due == deadline
            ? TransportError(.requestTimeout, "The request took longer than its timeout.")
            : TransportError(.poolTimeout, "No connection became free in time.")
        let timer = connector.eventLoop.scheduleTask(deadline: due) { self.giveUp(id, error) }
        let isWaiting = state.withLock { state in
            state.waiters[id]?.timer = timer
            return state.waiters[id] != nil
        }
        if !isWaiting { timer.cancel() }
    }

    private func giveUp(_ id: UInt64, _ error: TransportError) {
        let waiter = state.withLock { state -> Waiter? in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return nil }
            _ = state.machine.cancel(id, key: waiter.key)
            return waiter
        }
        waiter?.resume(.failed(error))
    }

    // MARK: Connections

    private func connect(_ key: PoolKey, _ policy: SecurityPolicy, _ timeouts: TransportTimeouts) {
        let attempt = ConnectAttempt()
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            state.attempts[state.nextID] = attempt
            return state.nextID
        }
        let owner = Connector.Owner(
            becameIdle: { [self] in release($0) },
            closed: { [self] in closed($0) })
        let opening = connector.connect(
            key, id: id, policy: policy, timeouts: timeouts, attempt: attempt, owner: owner)
        opening.whenComplete { [self] result in
            state.withLock { _ = $0.attempts.removeValue(forKey: id) }
            switch result {
            case .success(let connection): connected(connection)
            case .failure(let error): connectFailed(key, TransportError(translating: error))
            }
        }
    }

    private func connected(_ connection: HTTPConnection) {
        let (action, isShutDown) = state.withLock { state in
            state.open[connection.id] = connection
            return (state.machine.connected(connection, key: connection.key, now: .now()), state.isShutDown)
        }
        perform(action, connection, isShutDown: isShutDown)
    }

    private func release(_ connection: HTTPConnection) {
        let (action, isShutDown) = state.withLock { state in
            (state.machine.release(connection, key: connection.key, now: .now()), state.isShutDown)
        }
        perform(action, connection, isShutDown: isShutDown)
    }

    private func perform(_ action: Machine.ReleaseAction, _ connection: HTTPConnection, isShutDown: Bool) {
        switch action {
        case .hand(let id):
            guard let waiter = state.withLock({ $0.waiters.removeValue(forKey: id) }) else {
                return release(connection)
            }
            waiter.resume(.connection(connection))
        case .keep:
            if isShutDown { connection.close(.shutDown) } else { armIdleTimer() }
        case .close:
            connection.close(.retired)
        }
    }

    private func closed(_ connection: HTTPConnection) {
        let (action, policy) = state.withLock { state in
            state.open[connection.id] = nil
            return (state.machine.closed(connection, key: connection.key), state.policy)
        }
        perform(action, policy)
    }

    private func connectFailed(_ key: PoolKey, _ error: TransportError) {
        let (waiter, action, policy) = state.withLock { state in
            let (id, action) = state.machine.connectFailed(key)
            return (id.flatMap { state.waiters.removeValue(forKey: $0) }, action, state.policy)
        }
        waiter?.resume(.failed(error))
        perform(action, policy)
    }

    private func perform(_ action: Machine.VacancyAction, _ policy: SecurityPolicy) {
        if case .connect(let key) = action {
            let timeouts = state.withLock { state in
                state.waiters.values.first { $0.key == key }?.timeouts
            }
            connect(key, policy, timeouts ?? .default)
        }
        resumeIfDrained()
    }

    // MARK: Upkeep

    private func armIdleTimer(at due: NIODeadline? = nil) {
        let isFirst = state.withLock { state in
            defer { state.hasIdleTimer = true }
            return !state.hasIdleTimer
        }
        guard isFirst else { return }
        connector.eventLoop.scheduleTask(deadline: due ?? .now() + idleTimeout) { [weak self] in
            self?.expireIdle()
        }
    }

    private func expireIdle() {
        let (expired, next) = state.withLock { state in
            state.hasIdleTimer = false
            return state.machine.expire(now: .now())
        }
        for connection in expired { connection.close(.evicted) }
        if let next { armIdleTimer(at: next) }
    }

    func closeIdle() {
        for connection in state.withLock({ $0.machine.takeAllIdle() }) { connection.close(.evicted) }
    }

    /// From now on connections are made under this policy, and none made under another serves a request.
    func replacePolicy(_ policy: SecurityPolicy) {
        let (idle, waiters) = state.withLock { state in
            state.policy = policy
            let (idle, ids) = state.machine.retire { $0.policy != nil && $0.policy != policy.identity }
            return (idle, ids.compactMap { state.waiters.removeValue(forKey: $0) })
        }
        for connection in idle { connection.close(.retired) }
        for waiter in waiters { waiter.resume(.askAgain) }
    }

    /// Ends the pool, and returns when its last connection is gone.
    func shutDown(_ mode: ShutdownMode) async {
        let (idle, open, attempts, waiters) = state.withLock { state in
            state.isShutDown = true
            let idle = state.machine.takeAllIdle()
            guard mode == .immediate else { return (idle, [HTTPConnection](), [ConnectAttempt](), [Waiter]()) }
            let waiters = state.waiters
            state.waiters = [:]
            for (id, waiter) in waiters { _ = state.machine.cancel(id, key: waiter.key) }
            return (idle, Array(state.open.values), Array(state.attempts.values), Array(waiters.values))
        }
        for connection in idle + open { connection.close(.shutDown) }
        for attempt in attempts { attempt.abort() }
        for waiter in waiters { waiter.resume(.failed(.shutDown)) }
        await withUnsafeContinuation { continuation in
            state.withLock { $0.drained.append(continuation) }
            resumeIfDrained()
        }
    }

    private func resumeIfDrained() {
        let drained = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
            guard state.isShutDown, state.machine.isEmpty else { return [] }
            defer { state.drained = [] }
            return state.drained
        }
        for continuation in drained { continuation.resume() }
    }
}

extension TransportError {
    static var shutDown: TransportError { TransportError(.shutDown, "The session was shut down.") }
    static var evicted: TransportError { TransportError(.connectionClosed, "The connection was no longer used.") }
    static var retired: TransportError { TransportError(.connectionClosed, "The security policy was replaced.") }
}
