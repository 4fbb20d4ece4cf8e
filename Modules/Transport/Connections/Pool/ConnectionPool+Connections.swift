internal import LinnetMessages
internal import NIOCore
internal import Synchronization

// Opening connections: after a pause if previous ones were useless, and again if it fails.
extension ConnectionPool {
    /// Opens a connection that the state machine has already counted.
    func connect(_ key: PoolKey, _ timeouts: TransportTimeouts, nearCaller: Bool = false) {
        begin(ConnectSeries(key, timeouts, nearCaller: nearCaller, now: now))
    }

    /// Opens a connection for the request that waits for the key.
    func connect(_ key: PoolKey) {
        connect(key, timeouts(for: key))
    }

    /// The timeouts of the request that waits for the key.
    private func timeouts(for key: PoolKey) -> TransportTimeouts {
        change { state in state.machine.firstWaiter(key).flatMap { state.waiters[$0]?.timeouts } } ?? .default
    }

    private func begin(_ series: ConnectSeries) {
        let attempt = ConnectAttempt()
        let now = now
        let id = numbers.next()
        let pause = change { state in
            state.attempts[id] = attempt
            var random = SystemRandomNumberGenerator()
            let useless = state.useless.isEmpty ? 0 : state.useless.length(series.key, now: now)
            return policy.pause(afterUseless: useless, using: &random)
        }
        guard pause > .zero else { return open(series, id, attempt) }
        attempt.pause(for: pause, on: connector.eventLoop) { [self] in open(series, id, attempt) }
    }

    private func open(_ series: ConnectSeries, _ id: UInt64, _ attempt: ConnectAttempt) {
        let (terms, isWanted) = change { state in
            (state.terms, series.failures == 0 || state.machine.needsAttempt(series.key))
        }
        // An attempt from before a replacement of the terms is no longer wanted, and must not be counted for another
        // key.
        guard isWanted, series.key.isValid(under: terms) else { return abandon(series.key, id) }
        // The pause may have used the remaining time.
        if let error = series.error, !series.hasTime(at: now) { return giveUp(series.key, id, error) }
        let opening = connector.connect(
            series, id: id, on: shard(nearCaller: series.nearCaller), terms: terms, attempt: attempt, pool: self)
        opening.whenComplete { [self] result in
            switch result {
            case .success(let connection):
                change { _ = $0.attempts.removeValue(forKey: id) }
                connected(connection)
            case .failure(let error):
                failed(series, id: id, attempt: attempt, with: TransportError(translating: error))
            }
        }
    }

    private func failed(_ series: ConnectSeries, id: UInt64, attempt: ConnectAttempt, with error: TransportError) {
        var series = series
        series.failed(error, at: attempt.address)
        let (key, now) = (series.key, now)
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

    /// Gives up opening the connection.
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

    /// Abandons the attempt, since no request needs the connection any more.
    private func abandon(_ key: PoolKey, _ id: UInt64) {
        let next = change { state in
            state.attempts[id] = nil
            return state.machine.attemptAbandoned(key)
        }
        if let next { connect(next) }
        resumeIfDrained()
    }

    // MARK: Useless connections

    /// Called when a request has failed on a connection and may be repeated.
    func attemptFailed(_ failure: TransportMetrics.Failure, on connection: HTTPConnection, since start: Tick) {
        if failure == .staleConnection || failure == .notSent { closeIdle(like: connection, since: start) }
        guard connection.becameUseless() else { return }
        let now = now
        change { state in
            state.useless.add(connection.key, now: now)
            hasUseless.store(true, ordering: .relaxed)
        }
    }
}

// Opened and closed connections.
extension ConnectionPool {
    /// Called when a connection was opened.
    ///
    /// The connection may have closed already, and ``closed(_:)`` may have been called: the event loop does not wait
    /// for the thread that opens it. Then it only serves waiting requests, which fail with the server's reason, and is
    /// not kept.
    func connected(_ connection: HTTPConnection) {
        if connection.isMultiplexed { connection.shard.add(connection) }
        let more = change { state in
            if connection.isOpen { state.open[connection.id] = connection }
            return state.machine.connected(connection.key, isMultiplexed: connection.isMultiplexed)
        }
        for _ in 0..<more { connect(connection.key) }
        placeFreed(connection)
        if connection.isMultiplexed { serveWaiters(from: connection) }
        // More connections may be allowed now that the kind of this one is known.
        while hasWaiters, change({ $0.machine.needsRoom(for: connection.key) }),
            evict(for: connection.key, timeouts(for: connection.key))
        {}
        // `closed(_:)` removes a connection that closes later.
        if !connection.isOpen { connection.shard.remove(connection) }
    }

    /// Called when the server changes the number of concurrent exchanges. While it allows none, requests wait, and the
    /// connection keeps its place among the connections of its origin (RFC 9113, 5.1.2).
    func capacityChanged(_ connection: HTTPConnection, _ capacity: Int) {
        connector.rememberStreamLimit(capacity, of: connection.key.origin)
        connection.shard.updateCapacity(of: connection)
        if capacity > 0 { serveWaiters(from: connection) }
    }

    /// Called when the connection accepts no more exchanges.
    func isRetiring(_ connection: HTTPConnection) {
        connection.shard.retire(connection)
        let action = change { state -> PoolStateMachine<PoolKey>.WaitAction in
            guard state.open[connection.id] != nil, state.draining.insert(connection.id).inserted else { return .wait }
            return state.machine.draining(connection.key)
        }
        switch action {
        case .connect: connect(connection.key)
        case .evict: evict(for: connection.key, timeouts(for: connection.key))
        case .wait: break
        }
    }

    /// Called when a connection has closed.
    func closed(_ connection: HTTPConnection) {
        connection.shard.remove(connection)
        let next = change { state in
            state.open[connection.id] = nil
            let wasDraining = state.draining.remove(connection.id) != nil
            return state.machine.closed(connection.key, wasDraining: wasDraining)
        }
        if let next { connect(next) }
        resumeIfDrained()
    }

    /// Closes the longest unused connection, and opens one for the key in its place. Returns false if there is none.
    @discardableResult
    func evict(for key: PoolKey, _ timeouts: TransportTimeouts) -> Bool {
        while let victim = oldestUnused(besides: key) {
            // A request may have taken it since the search.
            guard victim.shard.takeUnused(victim) else { continue }
            if change({ $0.machine.connectInPlaceOfEvicted(key) }) {
                connect(key, timeouts, nearCaller: true)
            }
            // After its room is taken: the end of a connection gives its room to any origin in need.
            victim.close(.evicted)
            return true
        }
        return false
    }

    /// While a request waits, a connection of its own key is unused only if the server allows no exchange, and it may
    /// allow none on the next one either.
    private func oldestUnused(besides key: PoolKey) -> HTTPConnection? {
        shards.compactMap { $0.oldestUnused(besides: key) }.min { $0.since < $1.since }?.connection
    }

    /// Opens connections in advance, up to this many in total.
    func prewarm(
        _ origin: Origin, via proxy: ProxyServer? = nil, count: Int, timeouts: TransportTimeouts
    ) throws(TransportError) {
        let multiplexing = multiplexing(origin)
        let found = change { state -> Result<(Int, PoolKey), TransportError> in
            if state.isShutDown { return .failure(.shutDown) }
            if let refusal = state.terms.refusal(of: origin) { return .failure(refusal) }
            let key = PoolKey(origin, via: proxy, under: state.terms)
            return .success((state.machine.prewarm(key, count: count, multiplexing), key))
        }
        let (opened, key) = try found.get()
        for _ in 0..<opened { connect(key, timeouts) }
    }
}
