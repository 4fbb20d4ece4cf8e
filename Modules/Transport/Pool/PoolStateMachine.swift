internal import NIOCore

/// Which connection serves which request, and when one is opened or closed. Pure: each event returns what to do.
///
/// Waiting requests of one key are served in the order in which they came.
struct PoolStateMachine<Key: Hashable, Connection: Identifiable> {
    typealias WaiterID = UInt64

    enum LeaseAction {
        case use(Connection)
        /// Wait, and open a connection.
        case connect
        /// Wait; close this unused connection to another origin, and open one.
        case closeAndConnect(Connection)
        /// Wait for a connection to be given back.
        case wait
    }

    enum ReleaseAction: Equatable {
        case keep
        case hand(to: WaiterID)
        case close
    }

    /// What follows when a place became free.
    enum VacancyAction {
        case none
        case connect(Key)
    }

    private struct Origin {
        var idle: [(connection: Connection, since: NIODeadline)] = []
        /// Idle, in use and being opened.
        var total = 0
        var connecting = 0
        var waiters = CircularBuffer<WaiterID>()

        var isEmpty: Bool { total == 0 && waiters.isEmpty }
        var wantsConnection: Bool { waiters.count > connecting }
    }

    private let limits: TransportConfiguration.PoolLimits
    private let idleTime: TimeAmount
    private var origins: [Key: Origin] = [:]
    private var retired: Set<Key> = []
    private(set) var connections = 0

    init(limits: TransportConfiguration.PoolLimits) {
        self.limits = limits
        idleTime = TimeAmount(limits.idleTimeout)
    }

    var isEmpty: Bool { origins.isEmpty }
    var waiters: Int { origins.values.reduce(0) { $0 + $1.waiters.count } }
    var idleConnections: Int { origins.values.reduce(0) { $0 + $1.idle.count } }

    // MARK: Requests

    /// A connection that nobody uses, the one used last first; nil where there is none.
    mutating func takeIdle(_ key: Key) -> Connection? {
        origins[key]?.idle.popLast()?.connection
    }

    mutating func lease(_ key: Key, waiter: WaiterID) -> LeaseAction {
        if let connection = takeIdle(key) { return .use(connection) }
        origins[key, default: Origin()].waiters.append(waiter)
        guard let origin = origins[key], origin.wantsConnection, origin.total < limits.connectionsPerOrigin else {
            return .wait
        }
        if connections < limits.connections {
            beginConnecting(key)
            return .connect
        }
        guard let victim = evictOldestIdle() else { return .wait }
        beginConnecting(key)
        return .closeAndConnect(victim)
    }

    /// A request gave up waiting; false when it waits no more.
    mutating func cancel(_ waiter: WaiterID, key: Key) -> Bool {
        guard let index = origins[key]?.waiters.firstIndex(of: waiter) else { return false }
        origins[key]?.waiters.remove(at: index)
        tidy(key)
        return true
    }

    // MARK: Connections

    /// A connection was opened.
    mutating func connected(_ connection: Connection, key: Key, now: NIODeadline) -> ReleaseAction {
        origins[key]?.connecting -= 1
        return release(connection, key: key, now: now)
    }

    /// A connection could not be opened. The request that has waited longest hears of it, unless as many attempts as
    /// requests are still under way.
    mutating func connectFailed(_ key: Key) -> (waiter: WaiterID?, next: VacancyAction) {
        origins[key]?.connecting -= 1
        let fails = origins[key]?.wantsConnection ?? false
        let waiter = fails ? origins[key]?.waiters.popFirst() : nil
        return (waiter, vacate(key))
    }

    /// A connection is free again. `.close` means that ``closed(_:key:)`` will follow.
    mutating func release(_ connection: Connection, key: Key, now: NIODeadline) -> ReleaseAction {
        guard !retired.contains(key) else { return .close }
        if let waiter = origins[key]?.waiters.popFirst() { return .hand(to: waiter) }
        // Kept, it would hold the place that another origin's request waits for.
        guard connections < limits.connections || nextInNeed == nil else { return .close }
        origins[key]?.idle.append((connection, now))
        return .keep
    }

    /// A connection is gone, whether it was idle or in use.
    mutating func closed(_ connection: Connection, key: Key) -> VacancyAction {
        origins[key]?.idle.removeAll { $0.connection.id == connection.id }
        return vacate(key)
    }

    /// Takes the idle connections whose time is over; they stay counted until ``closed(_:key:)``.
    mutating func expire(now: NIODeadline) -> (expired: [Connection], next: NIODeadline?) {
        var expired: [Connection] = []
        var next: NIODeadline?
        for key in Array(origins.keys) {
            let kept = (origins[key]?.idle ?? []).filter { entry in
                let due = entry.since + idleTime
                if due <= now {
                    expired.append(entry.connection)
                } else {
                    next = min(next ?? due, due)
                }
                return due > now
            }
            origins[key]?.idle = kept
        }
        return (expired, next)
    }

    /// Takes all idle connections; they stay counted until ``closed(_:key:)``.
    mutating func takeAllIdle() -> [Connection] {
        origins.keys.flatMap { key -> [Connection] in
            defer { origins[key]?.idle = [] }
            return origins[key]?.idle.map(\.connection) ?? []
        }
    }

    /// No request may use connections of these keys any more: the idle ones are taken, those in use are closed when
    /// they come back, and who waits has to ask again.
    mutating func retire(where isRetired: (Key) -> Bool) -> (idle: [Connection], waiters: [WaiterID]) {
        var idle: [Connection] = []
        var waiters: [WaiterID] = []
        for key in Array(origins.keys) where isRetired(key) {
            retired.insert(key)
            idle += origins[key]?.idle.map(\.connection) ?? []
            waiters += origins[key]?.waiters ?? []
            origins[key]?.idle = []
            origins[key]?.waiters = []
            tidy(key)
        }
        return (idle, waiters)
    }

    // MARK: Accounts

    private mutating func beginConnecting(_ key: Key) {
        origins[key]?.total += 1
        origins[key]?.connecting += 1
        connections += 1
    }

    /// A place of this key's is free: whoever waits for one may open a connection.
    private mutating func vacate(_ key: Key) -> VacancyAction {
        origins[key]?.total -= 1
        connections -= 1
        defer { tidy(key) }
        // One that was evicted for another origin's sake has had its place taken already.
        guard connections < limits.connections else { return .none }
        if let origin = origins[key], origin.wantsConnection, origin.total < limits.connectionsPerOrigin {
            beginConnecting(key)
            return .connect(key)
        }
        // Another origin may have waited for the total to fall.
        guard let next = nextInNeed else { return .none }
        beginConnecting(next)
        return .connect(next)
    }

    /// The origin that may open a connection and whose request is oldest.
    private var nextInNeed: Key? {
        let inNeed = origins.filter { $0.value.wantsConnection && $0.value.total < limits.connectionsPerOrigin }
        return inNeed.min { ($0.value.waiters.first ?? .max) < ($1.value.waiters.first ?? .max) }?.key
    }

    private mutating func evictOldestIdle() -> Connection? {
        let idle = origins.compactMap { key, origin in origin.idle.first.map { (key, $0.since) } }
        guard let (key, _) = idle.min(by: { $0.1 < $1.1 }) else { return nil }
        return origins[key]?.idle.removeFirst().connection
    }

    private mutating func tidy(_ key: Key) {
        guard let origin = origins[key], origin.isEmpty else { return }
        origins[key] = nil
        retired.remove(key)
    }
}
