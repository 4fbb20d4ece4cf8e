internal import NIOCore
internal import Synchronization

/// What one event loop's connections have to offer, behind a lock of its own.
///
/// A request that finds a place here needs no other lock.
final class PoolShard: Sendable {
    enum Finding {
        case connection(HTTPConnection)
        case none
        case refused(TransportError)
    }

    enum Return {
        case kept
        /// The connection serves nobody any more, and nobody uses it.
        case close
        case ignored
    }

    private struct State: ~Copyable {
        var shelf = ConnectionShelf<PoolKey, HTTPConnection>()
        var terms: ConnectionTerms
        var isShutDown = false
    }

    let eventLoop: any EventLoop
    /// Of the terms that hold now; each request looks at it.
    private let revision: Atomic<UInt64>
    private let state: Mutex<State>

    init(_ eventLoop: any EventLoop, terms: ConnectionTerms) {
        self.eventLoop = eventLoop
        revision = Atomic(terms.revision)
        state = Mutex(State(terms: terms))
    }

    /// A place on a connection to the origin, under the terms that hold now.
    func take(_ origin: Origin) -> Finding {
        state.withLock { state in
            if state.isShutDown { return .refused(.shutDown) }
            let terms = state.terms
            if let refusal = terms.refusal(of: origin) { return .refused(refusal) }
            return state.shelf.take(PoolKey(origin, under: terms)).map(Finding.connection) ?? .none
        }
    }

    /// Whether a connection may serve a request under the terms that hold now, given which ones were asked last; returns
    /// which they are, or nil when it may not.
    func admits(_ connection: HTTPConnection, approvedUnder last: UInt64) -> UInt64? {
        guard revision.load(ordering: .acquiring) != last else { return last }
        return state.withLock { connection.key.isValid(under: $0.terms) ? $0.terms.revision : nil }
    }

    /// A place on this connection, if it has one.
    func take(_ connection: HTTPConnection) -> Bool {
        state.withLock { $0.shelf.take(connection, key: connection.key) }
    }

    func giveBack(_ connection: HTTPConnection, now: NIODeadline) -> Return {
        state.withLock { state in
            let isValid = !state.isShutDown && connection.key.isValid(under: state.terms) && !connection.isWornOut(now)
            if !connection.isMultiplexed {
                guard isValid else { return .close }
                connection.layAside()
                return Return(state.shelf.giveBack(connection, key: connection.key, now: now))
            }
            let result = Return(state.shelf.giveBack(connection, key: connection.key, now: now))
            if state.shelf.isUnused(connection) { connection.layAside() }
            guard !isValid else { return result }
            state.shelf.setCapacity(0, of: connection, key: connection.key, now: now)
            return state.shelf.isUnused(connection) ? .close : .ignored
        }
    }

    /// Whether nobody uses the connection but who holds one place of it.
    func isUnused(besidesOnePlaceOf connection: HTTPConnection) -> Bool {
        guard connection.isMultiplexed else { return true }
        return state.withLock { $0.shelf.exchanges(on: connection) <= 1 }
    }

    /// Whether one place that a request holds may be taken by another request.
    func hasRoom(besidesOnePlaceOf connection: HTTPConnection) -> Bool {
        guard connection.isMultiplexed else { return true }
        return state.withLock { $0.shelf.hasRoom(on: connection, besides: 1) }
    }

    func add(_ connection: HTTPConnection, capacity: Int) {
        state.withLock { $0.shelf.add(connection, key: connection.key, capacity: capacity, now: .now()) }
    }

    func setCapacity(_ capacity: Int, of connection: HTTPConnection) {
        state.withLock { $0.shelf.setCapacity(capacity, of: connection, key: connection.key, now: .now()) }
    }

    func remove(_ connection: HTTPConnection) {
        state.withLock { $0.shelf.remove(connection, key: connection.key) }
    }

    // MARK: Upkeep

    func expire(now: NIODeadline, idleTime: TimeAmount) -> (expired: [HTTPConnection], next: NIODeadline?) {
        state.withLock { $0.shelf.expire(now: now, idleTime: idleTime) }
    }

    func takeUnused() -> [HTTPConnection] {
        state.withLock { $0.shelf.takeUnused() }
    }

    /// The connections of one key that nobody has used since.
    func takeUnused(of key: PoolKey, since: NIODeadline) -> [HTTPConnection] {
        state.withLock { $0.shelf.takeUnused { $0.key == key && $0.since <= since } }
    }

    var oldestUnused: (connection: HTTPConnection, since: NIODeadline)? {
        state.withLock { $0.shelf.oldestUnused.map { ($0.connection, $0.since) } }
    }

    /// Takes a connection that nobody uses; false when somebody has come to use it.
    func takeUnused(_ connection: HTTPConnection) -> Bool {
        state.withLock { $0.shelf.takeUnused(connection, key: connection.key) }
    }

    /// From now on, only connections made under these terms have places; returns those that nobody uses of the others.
    func replaceTerms(_ terms: ConnectionTerms) -> [HTTPConnection] {
        state.withLock { state in
            guard terms.revision > state.terms.revision else { return [] }
            state.terms = terms
            revision.store(terms.revision, ordering: .releasing)
            return state.shelf.takeUnused { !$0.key.isValid(under: terms) }
        }
    }

    /// From now on there are no places.
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
