internal import NIOCore

// How connections come and go.
extension ConnectionPool {
    /// A connection was opened.
    func connected(_ connection: HTTPConnection) {
        if connection.isMultiplexed { connection.shard.add(connection, capacity: connection.initialCapacity) }
        let more = change { state in
            state.open[connection.id] = connection
            return state.machine.connected(connection.key, isMultiplexed: connection.isMultiplexed)
        }
        for _ in 0..<more { connect(connection.key) }
        placeFreed(connection)
        if connection.isMultiplexed { serveWaiters(from: connection) }
    }

    /// The server allows another number of exchanges at a time. While it allows none, requests wait: the connection keeps
    /// its place among its origin's (RFC 9113, 5.1.2).
    func capacityChanged(_ connection: HTTPConnection, _ capacity: Int) {
        connection.shard.setCapacity(capacity, of: connection)
        if capacity > 0 { serveWaiters(from: connection) }
    }

    /// The connection takes no more exchanges.
    func isRetiring(_ connection: HTTPConnection) {
        connection.shard.setCapacity(0, of: connection)
        let next = change { state -> PoolKey? in
            guard state.open[connection.id] != nil, state.draining.insert(connection.id).inserted else { return nil }
            return state.machine.draining(connection.key)
        }
        if let next { connect(next) }
    }

    /// A connection is gone.
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

    /// Closes the connection that has been unused for longest, and opens one for the key in its place.
    func evict(for key: PoolKey, _ timeouts: TransportTimeouts) {
        while let victim = oldestUnused {
            guard victim.shard.takeUnused(victim) else { continue }
            if change({ $0.machine.connectInPlaceOfEvicted(key) }) {
                connect(key, timeouts, nearCaller: true)
            }
            return victim.close(.evicted)
        }
    }

    private var oldestUnused: HTTPConnection? {
        shards.compactMap(\.oldestUnused).min { $0.since < $1.since }?.connection
    }

    /// Opens connections before anybody asks for them, up to this many in all.
    func prewarm(_ origin: Origin, count: Int, timeouts: TransportTimeouts) throws(TransportError) {
        let found = change { state -> Result<(Int, PoolKey), TransportError> in
            if state.isShutDown { return .failure(.shutDown) }
            if let refusal = state.terms.refusal(of: origin) { return .failure(refusal) }
            let key = PoolKey(origin, under: state.terms)
            return .success((state.machine.prewarm(key, count: count, connector.multiplexing(origin)), key))
        }
        let (opened, key) = try found.get()
        for _ in 0..<opened { connect(key, timeouts) }
    }
}
