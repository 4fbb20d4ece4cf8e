/// Decides which requests wait, and when connections are opened or closed. Pure: each event returns an action.
///
/// Connections with room are on the ``ConnectionShelf`` of their event loop; this machine learns of a place only while
/// requests wait. Waiting requests of a key are served by priority and then in order of arrival.
struct PoolStateMachine<Key: Hashable> {
    typealias WaiterID = UInt64

    /// Whether the connections to an origin may be multiplexed.
    enum Multiplexing {
        /// HTTP/1.1: each connection serves one request at a time.
        case never
        /// HTTP/2, or decided by ALPN: one connection is opened first.
        case possible
    }

    enum WaitAction: Equatable {
        case wait
        case connect
        /// The limit is reached: close an unused connection to another origin, if there is one.
        case evict
    }

    enum ReleaseAction: Equatable {
        case keep
        case hand(to: WaiterID)
        case close
    }

    private struct Origin {
        /// Connections that are idle, in use or being opened, without draining ones.
        var total = 0
        var connecting = 0
        var waiters = WaiterLine()
        /// Nil until a connection was opened.
        var isMultiplexed: Bool?

        var isEmpty: Bool { total == 0 && waiters.isEmpty }
    }

    private let limits: TransportConfiguration.PoolLimits
    private let multiplexedPerOrigin: Int
    private var origins: [Key: Origin] = [:]
    /// The origins that would open a connection if there was room, ranked by their first request.
    private var inNeed = RankedQueue<Key, WaiterLine.Entry>()
    /// Connections that are open or being opened, including draining ones.
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

    /// Whether a waiting request needs a place of this key, or the room that its unused connection takes.
    func needsPlace(of key: Key, isUnused: Bool) -> Bool {
        hasWaiters(key) || needsRoom(isUnused: isUnused)
    }

    /// Whether a request of this key waits for the room of another connection.
    func needsRoom(for key: Key) -> Bool {
        connections >= limits.connections && inNeed.contains(key)
    }

    /// Whether the room of an unused connection of this key is needed by another, and not by the key's own requests.
    func needsRoom(of key: Key, isUnused: Bool) -> Bool {
        needsRoom(isUnused: isUnused) && !needsRoom(for: key)
    }

    /// Whether a request waits for the room of an unused connection.
    private func needsRoom(isUnused: Bool) -> Bool {
        isUnused && connections >= limits.connections && !inNeed.isEmpty
    }

    // MARK: Requests

    /// Called when a request found no place.
    ///
    /// - Parameter arrival: When the request was made, which decides about its place in the line.
    mutating func wait(
        _ waiter: WaiterID, for key: Key, _ multiplexing: Multiplexing, priority: RequestPriority = .normal,
        since arrival: Tick = .earliest
    ) -> WaitAction {
        // Modified in place: copying the line would take linear time.
        if multiplexing == .never { origins[key, default: Origin()].isMultiplexed = false }
        origins[key, default: Origin()].waiters.add(
            WaiterLine.Entry(id: waiter, priority: priority, arrival: arrival))
        waiters += 1
        defer { settle(key) }
        guard wantsConnection(key) else { return .wait }
        guard connections < limits.connections else { return .evict }
        beginConnecting(key)
        return .connect
    }

    /// Takes the room of an unused connection that is being closed for this key. Returns false if no request needs it
    /// any more.
    mutating func connectInPlaceOfEvicted(_ key: Key) -> Bool {
        // The total may exceed its limit for a moment: the closing connection counts until `closed(_:wasDraining:)`,
        // which then opens none in its place.
        guard wantsConnection(key) else { return false }
        beginConnecting(key)
        settle(key)
        return true
    }

    /// Removes a request that gave up. Returns false if it no longer waits.
    mutating func cancel(_ waiter: WaiterID, key: Key) -> Bool {
        guard origins[key]?.waiters.remove(waiter) == true else { return false }
        waiters -= 1
        settle(key)
        return true
    }

    /// Changes the priority of a waiting request.
    mutating func setPriority(_ priority: RequestPriority, of waiter: WaiterID, key: Key) {
        origins[key]?.waiters.set(priority, of: waiter)
        settle(key)
    }

    /// Reserves connections to be opened in advance. Returns how many to open.
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

    /// Called when a connection was opened. Returns how many more to open, now that its kind is known.
    mutating func connected(_ key: Key, isMultiplexed: Bool) -> Int {
        endConnecting(key)
        origins[key]?.isMultiplexed = isMultiplexed
        var more = 0
        // Until its kind was known, one attempt stood for all waiting requests.
        while wantsConnection(key, besides: 1), connections < limits.connections {
            beginConnecting(key)
            more += 1
        }
        settle(key)
        return more
    }

    /// The requests to inform if the connection that is being opened fails: the first one, unless enough others are
    /// being opened for all waiting requests; all requests if one connection would serve them.
    func waitersForAttempt(_ key: Key) -> [WaiterID] {
        guard needsAttempt(key), let first = origins[key]?.waiters.first?.id else { return [] }
        return isShared(key) ? origins[key]?.waiters.ids ?? [] : [first]
    }

    /// Whether a connection that is being opened is still needed.
    func needsAttempt(_ key: Key) -> Bool {
        guard let origin = origins[key] else { return false }
        // Each of the other attempts will serve one request.
        return origin.waiters.count >= max(1, origin.connecting)
    }

    /// The next request to serve.
    func firstWaiter(_ key: Key) -> WaiterID? {
        origins[key]?.waiters.first?.id
    }

    /// Called when opening a connection has failed for good. Returns the requests that fail with it.
    mutating func connectFailed(_ key: Key) -> (waiters: [WaiterID], next: Key?) {
        var failed: [WaiterID] = []
        // Otherwise the other attempts suffice for the waiting requests, and none has to fail for this one.
        if needsAttempt(key) {
            if isShared(key) {
                failed = origins[key]?.waiters.removeAll() ?? []
            } else if let first = origins[key]?.waiters.popFirst() {
                failed = [first]
            }
            waiters -= failed.count
        }
        endConnecting(key)
        return (failed, vacate(key))
    }

    /// Called when a connection is not opened after all. Its requests get another one.
    mutating func attemptAbandoned(_ key: Key) -> Key? {
        endConnecting(key)
        return vacate(key)
    }

    /// Called when a place becomes free while requests wait. After `.close`, ``closed(_:)`` follows, unless another
    /// request has taken a place meanwhile: nothing is counted before.
    mutating func release(_ key: Key, isUnused: Bool) -> ReleaseAction {
        if let waiter = origins[key]?.waiters.popFirst() {
            waiters -= 1
            settle(key)
            return .hand(to: waiter)
        }
        // Otherwise it would occupy the room that another origin's request waits for.
        return needsRoom(isUnused: isUnused) ? .close : .keep
    }

    /// Called when a connection accepts no more requests. Since its requests may take long, another connection may be
    /// opened for its origin, if necessary in place of an unused one.
    mutating func draining(_ key: Key) -> WaitAction {
        origins[key]?.total -= 1
        settle(key)
        guard inNeed.contains(key) else { return .wait }
        guard connections < limits.connections else { return .evict }
        beginConnecting(key)
        settle(key)
        return .connect
    }

    /// Called when a connection has closed.
    mutating func closed(_ key: Key, wasDraining: Bool) -> Key? {
        guard wasDraining else { return vacate(key) }
        connections -= 1
        return connectNext(preferring: key)
    }

    /// Retires keys. Returns the waiting requests, which have to ask again.
    mutating func retire(where isRetired: (Key) -> Bool) -> [WaiterID] {
        var asked: [WaiterID] = []
        // A copy of the keys, since settling removes origins.
        for key in Array(origins.keys) where isRetired(key) {
            asked += origins[key]?.waiters.removeAll() ?? []
            settle(key)
        }
        waiters -= asked.count
        return asked
    }

    // MARK: Counting

    private func limit(_ key: Key) -> Int {
        switch origins[key]?.isMultiplexed {
        case false: limits.connectionsPerOrigin
        case true: multiplexedPerOrigin
        // If it turns out to be HTTP/2, one connection serves all requests, and more would be in vain.
        case nil: 1
        }
    }

    /// Whether more requests wait than the connections under way will serve.
    private func wantsConnection(_ key: Key, besides served: Int = 0) -> Bool {
        guard let origin = origins[key], origin.total < limit(key) else { return false }
        // Each connection that is being opened will serve one request.
        if origin.isMultiplexed == false { return origin.waiters.count - served > origin.connecting }
        // One connection may serve all of them; how many it serves is known once it is open.
        return origin.waiters.count > served && origin.connecting == 0
    }

    /// Whether the connection that is being opened would serve all waiting requests.
    private func isShared(_ key: Key) -> Bool {
        guard let origin = origins[key] else { return false }
        return origin.isMultiplexed != false && origin.total == 1
    }

    private mutating func beginConnecting(_ key: Key) {
        origins[key, default: Origin()].total += 1
        origins[key]?.connecting += 1
        connections += 1
    }

    /// A connection that closed before it was reported as connected may have been forgotten with its origin: it does
    /// not count.
    private mutating func endConnecting(_ key: Key) {
        guard let connecting = origins[key]?.connecting, connecting > 0 else { return }
        origins[key]?.connecting = connecting - 1
    }

    /// Releases the room of a connection. Returns the key to open another connection for.
    private mutating func vacate(_ key: Key) -> Key? {
        origins[key]?.total -= 1
        connections -= 1
        return connectNext(preferring: key)
    }

    private mutating func connectNext(preferring key: Key) -> Key? {
        settle(key)
        // The room of a connection evicted for another origin is already taken.
        guard connections < limits.connections else { return nil }
        // Another origin may wait for the total to fall.
        guard let next = inNeed.contains(key) ? key : inNeed.first?.member else { return nil }
        beginConnecting(next)
        settle(next)
        return next
    }

    /// Called after each change of an origin: updates whether it needs a connection, and removes it if it is empty.
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
