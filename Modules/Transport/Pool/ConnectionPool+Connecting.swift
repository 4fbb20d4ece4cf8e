internal import NIOCore
internal import Synchronization

// How a connection is opened: after a pause where those before it were of no use, and again where it could not be.
extension ConnectionPool {
    /// Opens a connection that the state machine has counted already.
    func connect(_ key: PoolKey, _ timeouts: TransportTimeouts, nearCaller: Bool = false) {
        begin(ConnectSeries(key, timeouts, nearCaller: nearCaller))
    }

    /// Opens a connection for the request that waits for the key now.
    func connect(_ key: PoolKey) {
        let timeouts = change { state in state.machine.firstWaiter(key).flatMap { state.waiters[$0]?.timeouts } }
        connect(key, timeouts ?? .default)
    }

    private func begin(_ series: ConnectSeries) {
        let attempt = ConnectAttempt()
        let now = NIODeadline.now()
        let (id, pause) = change { state in
            let id = state.makeID()
            state.attempts[id] = attempt
            var random = SystemRandomNumberGenerator()
            let useless = state.useless.isEmpty ? 0 : state.useless.length(series.key, now: now)
            return (id, policy.pause(afterUseless: useless, using: &random))
        }
        guard pause > .zero else { return open(series, id, attempt) }
        attempt.pause(for: pause, on: connector.eventLoop) { [self] in open(series, id, attempt) }
    }

    private func open(_ series: ConnectSeries, _ id: UInt64, _ attempt: ConnectAttempt) {
        let (terms, isWanted) = change { state in
            (state.terms, series.failures == 0 || state.machine.needsAttempt(series.key))
        }
        // What was counted before a replacement is no longer wanted, and must not be taken for what it is named after.
        guard isWanted, series.key.isValid(under: terms) else { return abandon(series.key, id) }
        // The pause may have taken the time that was left.
        if let error = series.error, !series.hasTime(at: .now()) { return giveUp(series.key, id, error) }
        let owner = Connector.Owner(
            placeFreed: { [self] in placeFreed($0) },
            capacityChanged: { [self] in capacityChanged($0, $1) },
            isRetiring: { [self] in isRetiring($0) },
            closed: { [self] in closed($0) })
        let opening = connector.connect(
            series, id: id, on: shard(nearCaller: series.nearCaller), terms: terms, attempt: attempt, owner: owner)
        opening.whenComplete { [self] result in
            switch result {
            case .success(let connection):
                change { _ = $0.attempts.removeValue(forKey: id) }
                connected(connection)
            case .failure(let error):
                failed(series, id, attempt, TransportError(translating: error))
            }
        }
    }

    private func failed(_ series: ConnectSeries, _ id: UInt64, _ attempt: ConnectAttempt, _ error: TransportError) {
        var series = series
        series.failed(error, at: attempt.address)
        let (key, now) = (series.key, NIODeadline.now())
        var metrics = attempt.metrics
        metrics.connectionID = id
        metrics.times.start.tick = attempt.start
        metrics.times.responseEnd.tick = .now
        metrics.failure = .notConnected
        let (record, next) = (metrics, series)
        let triesAgain = change { state in
            if error.mayPass {
                state.useless.add(key, now: now)
                hasUseless.store(true, ordering: .relaxed)
            }
            state.note(record, for: state.machine.waitersForAttempt(key))
            return error.mayPass && policy.opensAgain(afterFailures: next.failures) && next.hasTime(at: now)
                && state.machine.needsAttempt(key)
        }
        guard triesAgain else { return giveUp(key, id, error) }
        change { _ = $0.attempts.removeValue(forKey: id) }
        begin(series)
    }

    /// The connection is not tried to open again.
    private func giveUp(_ key: PoolKey, _ id: UInt64, _ error: TransportError) {
        let (waiters, next) = change { state in
            state.attempts[id] = nil
            let (ids, next) = state.machine.connectFailed(key)
            return (ids.compactMap { state.removeWaiter($0) }, next)
        }
        for waiter in waiters { waiter.resume(.failed(error)) }
        if let next { connect(next) }
        resumeIfDrained()
    }

    /// The connection is not opened, since no request wants it any more.
    private func abandon(_ key: PoolKey, _ id: UInt64) {
        let next = change { state in
            state.attempts[id] = nil
            return state.machine.attemptAbandoned(key)
        }
        if let next { connect(next) }
        resumeIfDrained()
    }

    // MARK: What connections were good for

    /// A request has failed on a connection, and may be sent again.
    func attemptFailed(_ failure: TransportMetrics.Failure, on connection: HTTPConnection, since start: Tick) {
        if failure == .staleConnection || failure == .notSent { closeIdle(like: connection, since: start) }
        guard connection.becameUseless() else { return }
        let now = NIODeadline.now()
        change { state in
            state.useless.add(connection.key, now: now)
            hasUseless.store(true, ordering: .relaxed)
        }
    }

    /// A server has answered a request on a connection.
    func served(on connection: HTTPConnection) {
        guard hasUseless.load(ordering: .relaxed) else { return }
        change { state in
            state.useless.forget(connection.key)
            hasUseless.store(!state.useless.isEmpty, ordering: .relaxed)
        }
    }
}
