internal import LinnetSecurity
internal import NIOCore

// How connections come and go.
extension ConnectionPool {
    /// Opens a connection that the state machine has counted already.
    func connect(
        _ key: PoolKey, _ terms: ConnectionTerms, _ timeouts: TransportTimeouts, nearCaller: Bool = false
    ) {
        // What was counted before a replacement is no longer wanted, and must not be taken for what it is named after.
        guard key.isValid(under: terms) else { return connectFailed(key, .retired) }
        let attempt = ConnectAttempt()
        let id = change { state in
            let id = state.makeID()
            state.attempts[id] = attempt
            return id
        }
        let owner = Connector.Owner(
            placeFreed: { [self] in placeFreed($0) },
            capacityChanged: { [self] in capacityChanged($0, $1) },
            isRetiring: { [self] in isRetiring($0) },
            closed: { [self] in closed($0) })
        let opening = connector.connect(
            key, id: id, on: shard(nearCaller: nearCaller), terms: terms, timeouts: timeouts, attempt: attempt,
            owner: owner)
        opening.whenComplete { [self] result in
            change { _ = $0.attempts.removeValue(forKey: id) }
            switch result {
            case .success(let connection): connected(connection)
            case .failure(let error): connectFailed(key, TransportError(translating: error))
            }
        }
    }

    private func connected(_ connection: HTTPConnection) {
        if connection.isMultiplexed { connection.shard.add(connection, capacity: connection.initialCapacity) }
        let (more, terms) = change { state in
            state.open[connection.id] = connection
            let more = state.machine.connected(connection.key, isMultiplexed: connection.isMultiplexed)
            return (more, state.terms)
        }
        for _ in 0..<more { connect(connection.key, terms) }
        placeFreed(connection)
        if connection.isMultiplexed { serveWaiters(from: connection) }
    }

    private func connectFailed(_ key: PoolKey, _ error: TransportError) {
        let (waiters, next, terms) = change { state in
            let (ids, next) = state.machine.connectFailed(key)
            return (ids.compactMap { state.waiters.removeValue(forKey: $0) }, next, state.terms)
        }
        for waiter in waiters { waiter.resume(.failed(error)) }
        if let next { connect(next, terms) }
        resumeIfDrained()
    }

    /// The server allows another number of exchanges at a time. While it allows none, requests wait: the connection keeps
    /// its place among its origin's (RFC 9113, 5.1.2).
    private func capacityChanged(_ connection: HTTPConnection, _ capacity: Int) {
        connection.shard.setCapacity(capacity, of: connection)
        if capacity > 0 { serveWaiters(from: connection) }
    }

    /// The connection takes no more exchanges.
    private func isRetiring(_ connection: HTTPConnection) {
        connection.shard.setCapacity(0, of: connection)
        let (next, terms) = change { state -> (PoolKey?, ConnectionTerms) in
            guard state.open[connection.id] != nil, state.draining.insert(connection.id).inserted else {
                return (nil, state.terms)
            }
            return (state.machine.draining(connection.key), state.terms)
        }
        if let next { connect(next, terms) }
    }

    private func closed(_ connection: HTTPConnection) {
        connection.shard.remove(connection)
        let (next, terms) = change { state in
            state.open[connection.id] = nil
            let wasDraining = state.draining.remove(connection.id) != nil
            return (state.machine.closed(connection.key, wasDraining: wasDraining), state.terms)
        }
        if let next { connect(next, terms) }
        resumeIfDrained()
    }

    /// Opens a connection for whoever waits for the key now.
    private func connect(_ key: PoolKey, _ terms: ConnectionTerms) {
        let timeouts = change { state in state.waiters.values.first { $0.key == key }?.timeouts }
        connect(key, terms, timeouts ?? .default)
    }

    /// Closes the connection that has been unused for longest, and opens one for the key in its place.
    func evict(for key: PoolKey, _ terms: ConnectionTerms, _ timeouts: TransportTimeouts) {
        while let victim = oldestUnused {
            guard victim.shard.takeUnused(victim) else { continue }
            if change({ $0.machine.connectInPlaceOfEvicted(key) }) {
                connect(key, terms, timeouts, nearCaller: true)
            }
            return victim.close(.evicted)
        }
    }

    private var oldestUnused: HTTPConnection? {
        shards.compactMap(\.oldestUnused).min { $0.since < $1.since }?.connection
    }

    /// Opens connections before anybody asks for them, up to this many in all.
    func prewarm(_ origin: Origin, count: Int, timeouts: TransportTimeouts) throws(TransportError) {
        let (outcome, key, terms) = change { state -> (Result<Int, TransportError>, PoolKey, ConnectionTerms) in
            let key = PoolKey(origin, under: state.terms)
            guard !state.isShutDown else { return (.failure(.shutDown), key, state.terms) }
            if let error = state.terms.refusal(of: origin) { return (.failure(error), key, state.terms) }
            let opened = state.machine.prewarm(key, count: count, connector.multiplexing(origin))
            return (.success(opened), key, state.terms)
        }
        let opened = try outcome.get()
        for _ in 0..<opened { connect(key, terms, timeouts) }
    }
}
