internal import NIOCore

/// The properties of a connection that a shelf needs.
protocol ShelvedConnection: Identifiable {
    /// Whether the connection runs several exchanges at a time.
    var isMultiplexed: Bool { get }
}

/// The connections of an event loop with room for another exchange. Pure.
///
/// A connection has one place for each exchange that it can run at a time; HTTP/1.1 has one. Each taken place must be
/// returned. A connection without a free place is not offered. An unused connection on which the server allows no
/// exchange for now is kept apart: it expires and is closed like the others.
struct ConnectionShelf<Key: Hashable, Connection: ShelvedConnection>: ~Copyable {
    enum Return: Equatable {
        case kept
        /// The connection was removed; its last exchange may still be running.
        case ignored
    }

    /// An unused connection.
    struct Unused {
        let connection: Connection.ID
        let key: Key
        let since: NIODeadline
    }

    private struct Entry {
        let connection: Connection
        var since: NIODeadline
        /// Whether ``expire(now:idleTime:restTime:)`` has returned it as resting.
        var isResting = false
    }

    private struct Use {
        var inUse: Int
        var capacity: Int
        /// Whether the connection ends after its exchanges, whatever its server allows.
        var isRetired = false
        var hasRoom: Bool { inUse < capacity }
    }

    /// The connections with the same key. A reference, so that taking or returning a place needs a single lookup.
    private final class Stack {
        /// The connections with room, in the order of their return.
        var entries: [Entry] = []
        /// The unused connections without room.
        var barred: [Entry] = []

        var isEmpty: Bool { entries.isEmpty && barred.isEmpty }
        var all: FlattenSequence<[[Entry]]> { [entries, barred].joined() }

        @discardableResult
        func remove(_ id: Connection.ID) -> Entry? {
            // Connections are taken from the end.
            if let index = entries.lastIndex(where: { $0.connection.id == id }) { return entries.remove(at: index) }
            return barred.firstIndex { $0.connection.id == id }.map { barred.remove(at: $0) }
        }
    }

    private var stacks: [Key: Stack] = [:]
    private var uses: [Connection.ID: Use] = [:]

    var isEmpty: Bool { uses.isEmpty && stacks.values.allSatisfy(\.isEmpty) }

    // MARK: Places

    /// Takes a place on a connection, the most recently used first.
    mutating func take(_ key: Key) -> Connection? {
        // The last one used first keeps few connections warm, and lets the others expire after a burst.
        guard let stack = stacks[key], let connection = stack.entries.last?.connection else { return nil }
        occupy(connection, stack)
        return connection
    }

    /// Takes a place on this connection. Returns false if it has none.
    mutating func take(_ connection: Connection, key: Key) -> Bool {
        guard let stack = stacks[key], stack.entries.contains(where: { $0.connection.id == connection.id }) else {
            return false
        }
        occupy(connection, stack)
        return true
    }

    /// Returns a place.
    mutating func giveBack(_ connection: Connection, key: Key, now: NIODeadline) -> Return {
        if connection.isMultiplexed {
            guard let use = uses[connection.id] else { return .ignored }
            uses[connection.id]?.inUse -= 1
            // If it had room, it is on the shelf.
            if use.hasRoom {
                if use.inUse == 1 { touch(connection, key, now) }
                return .kept
            }
            // The server has lowered its limit below the exchanges in use, so that this place is gone.
            guard use.inUse - 1 < use.capacity else {
                if use.inUse == 1, !use.isRetired {
                    stack(key).barred.append(Entry(connection: connection, since: now))
                }
                return .kept
            }
        }
        put(connection, key, now)
        return .kept
    }

    private mutating func put(_ connection: Connection, _ key: Key, _ now: NIODeadline) {
        stack(key).entries.append(Entry(connection: connection, since: now))
    }

    private mutating func stack(_ key: Key) -> Stack {
        if let stack = stacks[key] { return stack }
        let stack = Stack()
        stacks[key] = stack
        return stack
    }

    private mutating func occupy(_ connection: Connection, _ stack: Stack) {
        if connection.isMultiplexed {
            uses[connection.id]?.inUse += 1
            if uses[connection.id]?.hasRoom == true { return }
        }
        stack.remove(connection.id)
    }

    // MARK: Connections

    /// Adds a multiplexed connection with one place taken.
    mutating func add(_ connection: Connection, key: Key, capacity: Int, now: NIODeadline) {
        uses[connection.id] = Use(inUse: 1, capacity: capacity)
        if capacity > 1 { put(connection, key, now) }
    }

    /// Changes the number of places of a multiplexed connection.
    mutating func setCapacity(_ capacity: Int, of connection: Connection, key: Key, now: NIODeadline) {
        guard let before = uses[connection.id], !before.isRetired else { return }
        uses[connection.id]?.capacity = capacity
        let hasRoom = before.inUse < capacity
        guard hasRoom != before.hasRoom else { return }
        let stack = stack(key)
        let entry = stack.remove(connection.id)
        if hasRoom {
            put(connection, key, now)
        } else if before.inUse == 0, let entry {
            stack.barred.append(entry)
        }
    }

    /// Takes a multiplexed connection's places away, for good. It remains until its exchanges have ended.
    mutating func retire(_ connection: Connection, key: Key) {
        guard uses[connection.id] != nil else { return }
        // Zero and not removed: the places in use must still be counted until they are returned.
        uses[connection.id]?.capacity = 0
        uses[connection.id]?.isRetired = true
        stacks[key]?.remove(connection.id)
    }

    /// Removes a connection.
    mutating func remove(_ connection: Connection, key: Key) {
        uses[connection.id] = nil
        stacks[key]?.remove(connection.id)
    }

    // MARK: Upkeep

    /// Takes the connections that have been unused for `idleTime`, and returns, once each, the connections that have
    /// been unused for `restTime`; `next` is the time of the next one.
    mutating func expire(
        now: NIODeadline, idleTime: TimeAmount, restTime: TimeAmount
    ) -> (expired: [Connection], resting: [Connection], next: NIODeadline?) {
        let expired = takeUnused { $0.since + idleTime <= now }
        var resting: [Connection] = []
        var next: NIODeadline?
        func look(at entry: inout Entry) {
            guard isUnused(entry.connection) else { return }
            if !entry.isResting, entry.since + restTime <= now {
                entry.isResting = true
                resting.append(entry.connection)
            }
            let due = entry.since + (entry.isResting ? idleTime : min(restTime, idleTime))
            next = min(next ?? due, due)
        }
        for stack in stacks.values {
            for index in stack.entries.indices { look(at: &stack.entries[index]) }
            for index in stack.barred.indices { look(at: &stack.barred[index]) }
        }
        return (expired, resting, next)
    }

    /// Takes unused connections.
    mutating func takeUnused(where isWanted: (Unused) -> Bool = { _ in true }) -> [Connection] {
        var taken: [(Connection, Key)] = []
        for (key, stack) in stacks {
            for entry in stack.all where isUnused(entry.connection) {
                let unused = Unused(connection: entry.connection.id, key: key, since: entry.since)
                if isWanted(unused) { taken.append((entry.connection, key)) }
            }
        }
        for (connection, key) in taken { remove(connection, key: key) }
        // Not earlier, so that the next exchange of a key finds its stack.
        for (key, stack) in stacks where stack.isEmpty { stacks[key] = nil }
        return taken.map(\.0)
    }

    /// Takes a connection if it is here and unused.
    mutating func takeUnused(_ connection: Connection, key: Key) -> Bool {
        guard isUnused(connection), let stack = stacks[key],
            stack.all.contains(where: { $0.connection.id == connection.id })
        else { return false }
        remove(connection, key: key)
        return true
    }

    /// The longest unused connection, except for the connections of a key.
    func oldestUnused(besides other: Key? = nil) -> (connection: Connection, key: Key, since: NIODeadline)? {
        var oldest: (connection: Connection, key: Key, since: NIODeadline)?
        for (key, stack) in stacks where key != other {
            // Connections with the same key are in the order in which they were returned.
            for entry in [stack.entries.first { isUnused($0.connection) }, stack.barred.first] {
                guard let entry, entry.since < oldest?.since ?? .distantFuture else { continue }
                oldest = (entry.connection, key, entry.since)
            }
        }
        return oldest
    }

    /// The number of taken places of a multiplexed connection.
    func exchanges(on connection: Connection) -> Int {
        uses[connection.id]?.inUse ?? 0
    }

    /// Whether a multiplexed connection has room when this many places become free.
    func hasRoom(on connection: Connection, besides places: Int) -> Bool {
        uses[connection.id].map { $0.inUse - places < $0.capacity } ?? false
    }

    func isUnused(_ connection: Connection) -> Bool {
        !connection.isMultiplexed || uses[connection.id].map { $0.inUse == 0 } ?? true
    }

    private func touch(_ connection: Connection, _ key: Key, _ now: NIODeadline) {
        guard let stack = stacks[key],
            let index = stack.entries.firstIndex(where: { $0.connection.id == connection.id })
        else { return }
        stack.entries[index] = Entry(connection: connection, since: now)
    }
}
