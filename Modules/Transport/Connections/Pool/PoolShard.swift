internal import LinnetMessages
internal import NIOCore
internal import Synchronization

/// The available connections of one event loop, with their own lock.
///
/// A request that finds a place here takes no other lock.
final class PoolShard: Sendable {
    enum Finding {
        case connection(HTTPConnection)
        case none
        case refused(TransportError)
    }

    enum Return {
        case kept
        /// The connection is unused and must not be used again.
        case close
        /// The connection is in use and must take no further exchanges.
        case retire
        case ignored
    }

    private struct State: ~Copyable {
        var shelf = ConnectionShelf<PoolKey, HTTPConnection>()
        var terms: ConnectionTerms
        var isShutDown = false
    }

    let eventLoop: any EventLoop
    /// The revision of the current terms, read by each request.
    private let revision: Atomic<UInt64>
    private let state: Mutex<State>

    init(_ eventLoop: any EventLoop, terms: ConnectionTerms) {
        self.eventLoop = eventLoop
        revision = Atomic(terms.revision)
        state = Mutex(State(terms: terms))
    }

    /// Takes a place on a connection to the origin under the current terms.
    func take(_ origin: Origin, via proxy: ProxyServer?) -> Finding {
        state.withLock { state in
            if state.isShutDown { return .refused(.shutDown) }
            let terms = state.terms
            if let refusal = terms.refusal(of: origin) { return .refused(refusal) }
            return state.shelf.take(PoolKey(origin, via: proxy, under: terms)).map(Finding.connection) ?? .none
        }
    }

    /// Checks whether a connection may be used under the current terms. Returns their revision, or nil if it may not.
    /// If the revision equals the last approved one, no lock is taken.
    func admits(_ connection: HTTPConnection, approvedUnder last: UInt64) -> UInt64? {
        // Each request comes here, and terms hardly ever change, so the usual case costs one load.
        guard revision.load(ordering: .acquiring) != last else { return last }
        return state.withLock { connection.key.isValid(under: $0.terms) ? $0.terms.revision : nil }
    }

    var isShutDown: Bool { state.withLock { $0.isShutDown } }

    /// Takes a place on this connection, if it has one.
    func take(_ connection: HTTPConnection) -> Bool {
        state.withLock { $0.shelf.take(connection, key: connection.key) }
    }

    func giveBack(_ connection: HTTPConnection, now: NIODeadline) -> Return {
        state.withLock { state in
            let isValid = !state.isShutDown && connection.isValid(under: state.terms) && !connection.isWornOut(now)
            if !connection.isMultiplexed {
                // No other request can have a place on it.
                guard isValid else { return .close }
                // Under the lock: once it is on the shelf, another thread may begin the next request on it.
                connection.layAside()
                return Return(state.shelf.giveBack(connection, key: connection.key, now: now))
            }
            let result = Return(state.shelf.giveBack(connection, key: connection.key, now: now))
            if state.shelf.isUnused(connection) { connection.layAside() }
            guard !isValid else { return result }
            state.shelf.retire(connection, key: connection.key)
            if state.shelf.isUnused(connection) { return .close }
            // A shutdown lets all exchanges run, even exchanges that are about to start.
            return state.isShutDown ? .ignored : .retire
        }
    }

    /// Whether no place of the connection is taken.
    func isUnused(_ connection: HTTPConnection) -> Bool {
        guard connection.isMultiplexed else { return true }
        return state.withLock { $0.shelf.isUnused(connection) }
    }

    /// Whether the connection is unused except for one place.
    func isUnused(besidesOnePlaceOf connection: HTTPConnection) -> Bool {
        guard connection.isMultiplexed else { return true }
        return state.withLock { $0.shelf.exchanges(on: connection) <= 1 }
    }

    /// Whether a place that becomes free may be taken by another request.
    func hasRoom(besidesOnePlaceOf connection: HTTPConnection) -> Bool {
        guard connection.isMultiplexed else { return true }
        return state.withLock { $0.shelf.hasRoom(on: connection, besides: 1) }
    }

    /// Adds a multiplexed connection with one place taken. Its capacity is read under the lock, here and in
    /// ``updateCapacity(of:)``, so that a change before it is added is not lost.
    func add(_ connection: HTTPConnection) {
        state.withLock { state in
            state.shelf.add(connection, key: connection.key, capacity: connection.capacity, now: eventLoop.now)
        }
    }

    /// Takes note of a changed capacity.
    func updateCapacity(of connection: HTTPConnection) {
        state.withLock { state in
            state.shelf.setCapacity(
                connection.capacity, of: connection, key: connection.key, now: eventLoop.now)
        }
    }

    func retire(_ connection: HTTPConnection) {
        state.withLock { $0.shelf.retire(connection, key: connection.key) }
    }

    func remove(_ connection: HTTPConnection) {
        state.withLock { $0.shelf.remove(connection, key: connection.key) }
    }

    // MARK: Upkeep

    func expire(
        now: NIODeadline, idleTime: TimeAmount, restTime: TimeAmount
    ) -> (expired: [HTTPConnection], resting: [HTTPConnection], next: NIODeadline?) {
        state.withLock { $0.shelf.expire(now: now, idleTime: idleTime, restTime: restTime) }
    }

    func takeUnused() -> [HTTPConnection] {
        state.withLock { $0.shelf.takeUnused() }
    }

    /// Takes the connections of a key that have been unused since a time.
    func takeUnused(of key: PoolKey, since: NIODeadline) -> [HTTPConnection] {
        state.withLock { $0.shelf.takeUnused { $0.key == key && $0.since <= since } }
    }

    /// The longest unused connection of another key.
    func oldestUnused(besides key: PoolKey) -> (connection: HTTPConnection, since: NIODeadline)? {
        state.withLock { $0.shelf.oldestUnused(besides: key).map { ($0.connection, $0.since) } }
    }

    /// Takes an unused connection. Returns false if it is in use again.
    func takeUnused(_ connection: HTTPConnection) -> Bool {
        state.withLock { $0.shelf.takeUnused(connection, key: connection.key) }
    }

    /// Replaces the terms and takes the unused connections that are not valid under them.
    func replaceTerms(_ terms: ConnectionTerms) -> [HTTPConnection] {
        state.withLock { state in
            // Two replacements reach the shards without a common lock, so the older one may come last.
            guard terms.revision > state.terms.revision else { return [] }
            state.terms = terms
            revision.store(terms.revision, ordering: .releasing)
            return state.shelf.takeUnused { !$0.key.isValid(under: terms) }
        }
    }

    /// Refuses further requests, and takes all unused connections.
    func shutDown() -> [HTTPConnection] {
        state.withLock { state in
            state.isShutDown = true
            return state.shelf.takeUnused()
        }
    }
}

extension PoolShard.Return {
    init(_ result: ConnectionShelf<PoolKey, HTTPConnection>.Return) {
        switch result {
        case .kept: self = .kept
        case .ignored: self = .ignored
        }
    }
}
