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
        hasWaiters(key) || (connections >= limits.connections && nextInNeed != nil)
    }

    // MARK: Requests

    /// A request found no place.
    mutating func wait(
        _ waiter: WaiterID, for key: Key, _ multiplexing: Multiplexing, priority: RequestPriority = .normal
    ) -> WaitAction {
        var origin = origins[key] ?? Origin()
        if multiplexing == .never { origin.isMultiplexed = false }
        origin.waiters.add(waiter, priority)
        origins[key] = origin
        waiters += 1
        guard wantsConnection(origin) else { return .wait }
        guard connections < limits.connections else { return .evict }
        beginConnecting(key)
        return .connect
    }

    /// An unused connection to another origin is being closed for this key's sake, and its place is taken at once; false
    /// when nobody needs it any more.
    mutating func connectInPlaceOfEvicted(_ key: Key) -> Bool {
        guard let origin = origins[key], wantsConnection(origin) else { return false }
        beginConnecting(key)
        return true
    }

    /// A request gave up waiting; false when it waits no more.
    mutating func cancel(_ waiter: WaiterID, key: Key) -> Bool {
        guard origins[key]?.waiters.remove(waiter) == true else { return false }
        waiters -= 1
        tidy(key)
        return true
    }

    /// A request that waits gets another priority.
    mutating func setPriority(_ priority: RequestPriority, of waiter: WaiterID, key: Key) {
        guard origins[key]?.waiters.remove(waiter) == true else { return }
        origins[key]?.waiters.add(waiter, priority)
    }

    /// Connections to be opened before anybody asks; returns how many there may be.
    mutating func prewarm(_ key: Key, count: Int, _ multiplexing: Multiplexing) -> Int {
        var origin = origins[key] ?? Origin()
        if multiplexing == .never { origin.isMultiplexed = false }
        let room = min(limit(origin) - origin.total, limits.connections - connections)
        let opened = max(0, min(count - origin.total, room))
        guard opened > 0 else { return 0 }
        origins[key] = origin
        for _ in 0..<opened { beginConnecting(key) }
        return opened
    }

    // MARK: Connections

    /// A connection was opened; returns how many more to open, now that it is known what it can do.
    mutating func connected(_ key: Key, isMultiplexed: Bool) -> Int {
        origins[key]?.connecting -= 1
        origins[key]?.isMultiplexed = isMultiplexed
        var more = 0
        // The one that was opened serves the first of those who wait.
        while let origin = origins[key], wantsConnection(origin, besides: 1), connections < limits.connections {
            beginConnecting(key)
            more += 1
        }
        return more
    }

    /// A connection could not be opened. The request that has waited longest hears of it, unless as many attempts as
    /// requests are still under way; where one connection would have served all, all of them hear.
    mutating func connectFailed(_ key: Key) -> (waiters: [WaiterID], next: Key?) {
        origins[key]?.connecting -= 1
        var failed: [WaiterID] = []
        if let origin = origins[key], origin.waiters.count > origin.connecting, let first = origin.waiters.first {
            let isShared = origin.isMultiplexed != false && origin.total == 1
            if isShared {
                failed = origins[key]?.waiters.removeAll() ?? []
            } else {
                failed = [first.id]
                _ = origins[key]?.waiters.popFirst()
            }
            waiters -= failed.count
        }
        return (failed, vacate(key))
    }

    /// A place is free while somebody waits. `.close` means that ``closed(_:)`` will follow.
    mutating func release(_ key: Key, isUnused: Bool) -> ReleaseAction {
        if let waiter = origins[key]?.waiters.popFirst() {
            waiters -= 1
            return .hand(to: waiter)
        }
        // Kept, it would hold the place that another origin's request waits for.
        guard isUnused, connections >= limits.connections, nextInNeed != nil else { return .keep }
        return .close
    }

    /// A connection takes no more requests, and those that it has may take long: its place among its origin's goes to
    /// another one.
    mutating func draining(_ key: Key) -> Key? {
        origins[key]?.total -= 1
        defer { tidy(key) }
        return connectNext(preferring: key)
    }

    /// A connection is gone.
    mutating func closed(_ key: Key, wasDraining: Bool) -> Key? {
        guard wasDraining else { return vacate(key) }
        connections -= 1
        defer { tidy(key) }
        return connectNext(preferring: key)
    }

    /// No request may use connections of these keys any more: who waits has to ask again.
    mutating func retire(where isRetired: (Key) -> Bool) -> [WaiterID] {
        var asked: [WaiterID] = []
        for key in Array(origins.keys) where isRetired(key) {
            asked += origins[key]?.waiters.removeAll() ?? []
            tidy(key)
        }
        waiters -= asked.count
        return asked
    }

    // MARK: Accounts

    private func limit(_ origin: Origin) -> Int {
        switch origin.isMultiplexed {
        case false: limits.connectionsPerOrigin
        case true: multiplexedPerOrigin
        case nil: 1
        }
    }

    /// Whether those who wait are more than the connections under way will serve.
    private func wantsConnection(_ origin: Origin, besides served: Int = 0) -> Bool {
        guard origin.total < limit(origin) else { return false }
        if origin.isMultiplexed == false { return origin.waiters.count - served > origin.connecting }
        return origin.waiters.count > served && origin.connecting == 0
    }

    private mutating func beginConnecting(_ key: Key) {
        origins[key]?.total += 1
        origins[key]?.connecting += 1
        connections += 1
    }

    /// A place of this key's is free: whoever waits for one may open a connection.
    private mutating func vacate(_ key: Key) -> Key? {
        origins[key]?.total -= 1
        connections -= 1
        defer { tidy(key) }
        return connectNext(preferring: key)
    }

    private mutating func connectNext(preferring key: Key) -> Key? {
        // One that was evicted for another origin's sake has had its place taken already.
        guard connections < limits.connections else { return nil }
        if let origin = origins[key], wantsConnection(origin) {
            beginConnecting(key)
            return key
        }
        // Another origin may have waited for the total to fall.
        guard let next = nextInNeed else { return nil }
        beginConnecting(next)
        return next
    }

    /// The origin that may open a connection and whose request comes first.
    private var nextInNeed: Key? {
        guard waiters > 0 else { return nil }
        let inNeed = origins.filter { wantsConnection($0.value) }
        return inNeed.min { first, second in
            guard let other = second.value.waiters.first else { return true }
            return first.value.waiters.first.map { $0 < other } ?? false
        }?.key
    }

    private mutating func tidy(_ key: Key) {
        guard let origin = origins[key], origin.isEmpty else { return }
        origins[key] = nil
    }
}
