/// Who waits for a connection, and when one is opened or closed. Pure: each event returns what to do.
///
/// Connections with room for a request lie on their event loop's ``ConnectionShelf``; this machine hears of a place only
/// when somebody waits for one. Waiting requests of one key are served by priority, and else in the order in which they
/// came.
struct PoolStateMachine<Key: Hashable> {
    typealias WaiterID = UInt64

    /// What may be told beforehand of an origin's connections.
    enum Multiplexing {
        /// HTTP/1.1: each connection serves one request at a time.
        case never
        /// HTTP/2, or what ALPN decides: one connection is opened first, and shows it.
        case possible
    }

    enum WaitAction: Equatable {
        case wait
        case connect
        /// All places are taken: an unused connection to another origin has to go, if there is one.
        case evict
    }

    enum ReleaseAction: Equatable {
        case keep
        case hand(to: WaiterID)
        case close
    }

    private struct Origin {
        /// Idle, in use and being opened, but for those that drain.
        var total = 0
        var connecting = 0
        var waiters = WaiterLine()
        /// Nil until a connection has shown it.
        var isMultiplexed: Bool?

        var isEmpty: Bool { total == 0 && waiters.isEmpty }
    }

    private let limits: TransportConfiguration.PoolLimits
    private let multiplexedPerOrigin: Int
    private var origins: [Key: Origin] = [:]
    /// The origins that would open a connection if there was room, by the request that would be first to use it.
    private var inNeed = RankedQueue<Key, WaiterLine.Entry>()
    /// Open and being opened, those that drain included.
    private(set) var connections = 0
    private(set) var waiters = 0

    init(limits: TransportConfiguration.PoolLimits, multiplexedPerOrigin: Int = 1) {
        self.limits = limits
        self.multiplexedPerOrigin = multiplexedPerOrigin
    }

    var isEmpty: Bool { connections == 0 && waiters == 0 }

    func hasWaiters(_ key: Key) -> Bool {
        origins[key]?.waiters.isEmpty == false
    }

    /// Whether a place of this key's, or the room that its connection takes up, is wanted by somebody who waits.
    func needsPlace(of key: Key) -> Bool {
        hasWaiters(key) || (connections >= limits.connections && !inNeed.isEmpty)
    }

    // MARK: Requests

    /// A request found no place.
    mutating func wait(
        _ waiter: WaiterID, for key: Key, _ multiplexing: Multiplexing, priority: RequestPriority = .normal
    ) -> WaitAction {
        // In its place: a copy of the line would cost as much as it is long.
        if multiplexing == .never { origins[key, default: Origin()].isMultiplexed = false }
        origins[key, default: Origin()].waiters.set(priority, of: waiter)
        waiters += 1
        defer { settle(key) }
        guard wantsConnection(key) else { return .wait }
        guard connections < limits.connections else { return .evict }
        beginConnecting(key)
        return .connect
    }

    /// An unused connection to another origin is being closed for this key's sake, and its place is taken at once; false
    /// when nobody needs it any more.
    mutating func connectInPlaceOfEvicted(_ key: Key) -> Bool {
        guard wantsConnection(key) else { return false }
        beginConnecting(key)
        settle(key)
        return true
    }

    /// A request gave up waiting; false when it waits no more.
    mutating func cancel(_ waiter: WaiterID, key: Key) -> Bool {
        guard origins[key]?.waiters.remove(waiter) == true else { return false }
        waiters -= 1
        settle(key)
        return true
    }

    /// A request that waits gets another priority.
    mutating func setPriority(_ priority: RequestPriority, of waiter: WaiterID, key: Key) {
        guard origins[key]?.waiters.contains(waiter) == true else { return }
        origins[key]?.waiters.set(priority, of: waiter)
        settle(key)
    }

    /// Connections to be opened before anybody asks; returns how many there may be.
    mutating func prewarm(_ key: Key, count: Int, _ multiplexing: Multiplexing) -> Int {
        if multiplexing == .never { origins[key, default: Origin()].isMultiplexed = false }
        let total = origins[key]?.total ?? 0
        let room = min(limit(key) - total, limits.connections - connections)
        let opened = max(0, min(count - total, room))
        for _ in 0..<opened { beginConnecting(key) }
        settle(key)
        return opened
    }

    // MARK: Connections

    /// A connection was opened; returns how many more to open, now that it is known what it can do.
    mutating func connected(_ key: Key, isMultiplexed: Bool) -> Int {
        origins[key]?.connecting -= 1
        origins[key]?.isMultiplexed = isMultiplexed
        var more = 0
        // The one that was opened serves the first of those who wait.
        while wantsConnection(key, besides: 1), connections < limits.connections {
            beginConnecting(key)
            more += 1
        }
        settle(key)
        return more
    }

    /// Who waits for the connection that is being opened, so that they hear of it if it cannot be: the request that has waited
    /// longest, unless as many others are being opened as requests wait; where one connection would serve all, all of them.
    func waitersForAttempt(_ key: Key) -> [WaiterID] {
        guard needsAttempt(key), let first = origins[key]?.waiters.first?.id else { return [] }
        return isShared(key) ? origins[key]?.waiters.ids ?? [] : [first]
    }

    /// Whether a connection that is being opened is still waited for.
    func needsAttempt(_ key: Key) -> Bool {
        guard let origin = origins[key] else { return false }
        return origin.waiters.count >= max(1, origin.connecting)
    }

    /// The request that is served next.
    func firstWaiter(_ key: Key) -> WaiterID? {
        origins[key]?.waiters.first?.id
    }

    /// A connection could not be opened, and is given up. Those hear of it who waited for it.
    mutating func connectFailed(_ key: Key) -> (waiters: [WaiterID], next: Key?) {
        var failed: [WaiterID] = []
        if needsAttempt(key) {
            if isShared(key) {
                failed = origins[key]?.waiters.removeAll() ?? []
            } else if let first = origins[key]?.waiters.popFirst() {
                failed = [first]
            }
            waiters -= failed.count
        }
        origins[key]?.connecting -= 1
        return (failed, vacate(key))
    }

    /// A connection is not opened after all. Requests that wait for one get another.
    mutating func attemptAbandoned(_ key: Key) -> Key? {
        origins[key]?.connecting -= 1
        return vacate(key)
    }

    /// A place is free while somebody waits. `.close` means that ``closed(_:)`` will follow.
    mutating func release(_ key: Key, isUnused: Bool) -> ReleaseAction {
        if let waiter = origins[key]?.waiters.popFirst() {
            waiters -= 1
            settle(key)
            return .hand(to: waiter)
        }
        // Kept, it would hold the place that another origin's request waits for.
        guard isUnused, connections >= limits.connections, !inNeed.isEmpty else { return .keep }
        return .close
    }

    /// A connection takes no more requests, and those that it has may take long: its place among its origin's goes to
    /// another one.
    mutating func draining(_ key: Key) -> Key? {
        origins[key]?.total -= 1
        return connectNext(preferring: key)
    }

    /// A connection is gone.
    mutating func closed(_ key: Key, wasDraining: Bool) -> Key? {
        guard wasDraining else { return vacate(key) }
        connections -= 1
        return connectNext(preferring: key)
    }

    /// No request may use connections of these keys any more: who waits has to ask again.
    mutating func retire(where isRetired: (Key) -> Bool) -> [WaiterID] {
        var asked: [WaiterID] = []
        for key in Array(origins.keys) where isRetired(key) {
            asked += origins[key]?.waiters.removeAll() ?? []
            settle(key)
        }
        waiters -= asked.count
        return asked
    }

    // MARK: Accounts

    private func limit(_ key: Key) -> Int {
        switch origins[key]?.isMultiplexed {
        case false: limits.connectionsPerOrigin
        case true: multiplexedPerOrigin
        case nil: 1
        }
    }

    /// Whether those who wait are more than the connections under way will serve.
    private func wantsConnection(_ key: Key, besides served: Int = 0) -> Bool {
        guard let origin = origins[key], origin.total < limit(key) else { return false }
        if origin.isMultiplexed == false { return origin.waiters.count - served > origin.connecting }
        return origin.waiters.count > served && origin.connecting == 0
    }

    /// Whether the connection that is being opened would serve all who wait.
    private func isShared(_ key: Key) -> Bool {
        guard let origin = origins[key] else { return false }
        return origin.isMultiplexed != false && origin.total == 1
    }

    private mutating func beginConnecting(_ key: Key) {
        origins[key, default: Origin()].total += 1
        origins[key]?.connecting += 1
        connections += 1
    }

    /// A place of this key's is free: whoever waits for one may open a connection.
    private mutating func vacate(_ key: Key) -> Key? {
        origins[key]?.total -= 1
        connections -= 1
        return connectNext(preferring: key)
    }

    private mutating func connectNext(preferring key: Key) -> Key? {
        settle(key)
        // One that was evicted for another origin's sake has had its place taken already.
        guard connections < limits.connections else { return nil }
        // Another origin may have waited for the total to fall.
        guard let next = inNeed.contains(key) ? key : inNeed.first?.member else { return nil }
        beginConnecting(next)
        settle(next)
        return next
    }

    /// Ends every event that has changed an origin: notes whether it is in need, and forgets it when it has become empty.
    private mutating func settle(_ key: Key) {
        guard let origin = origins[key], !origin.isEmpty else {
            origins[key] = nil
            inNeed.remove(key)
            return
        }
        if wantsConnection(key), let first = origin.waiters.first {
            inNeed.set(first, of: key)
        } else {
            inNeed.remove(key)
        }
    }
}
