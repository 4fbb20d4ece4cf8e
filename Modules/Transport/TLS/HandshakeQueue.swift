internal import NIOCore

/// The limit on the TLS handshakes of an event loop.
struct HandshakeLimit: Sendable {
    /// The number of handshakes at a time.
    var places = 64
    /// The time after which a handshake gives up its place.
    var patience = TimeAmount.milliseconds(500)
}

/// The order of the TLS handshakes on an event loop: a number of them at a time, the others in order of arrival.
///
/// Each handshake in progress holds about 50 KB, so that a thousand at the same time leave a heap of free pages behind.
///
/// Servers that are slow or silent must not delay the others. A handshake that has not ended after a while gives up its
/// place and goes on without one. Whenever that happens, all that have waited for as long begin, too. So a handshake
/// waits at most twice the time because of silent servers, whatever their number.
///
/// Nothing is allocated for a handshake that begins at once. Pure.
struct HandshakeQueue<Waiter> {
    private struct Place {
        let ticket: UInt64
        let end: NIODeadline
    }

    private struct Entry {
        let ticket: UInt64
        let arrival: NIODeadline
        /// Nil once it is withdrawn.
        var waiter: Waiter?
    }

    private let limit: HandshakeLimit
    private var lastTicket: UInt64 = 0
    /// The handshakes that have a place, in the order in which they began. All places are taken while others wait.
    private var places: [Place] = []
    /// In order of arrival. The first one is not withdrawn.
    private var line = CircularBuffer<Entry>(initialCapacity: 0)

    init(_ limit: HandshakeLimit) {
        self.limit = limit
        places.reserveCapacity(limit.places)
    }

    /// The time at which the next place is given up while handshakes wait.
    var nextEnd: NIODeadline? { line.isEmpty ? nil : places.first?.end }

    /// Adds a handshake, which begins at once or waits.
    mutating func enter(_ waiter: Waiter, now: NIODeadline) -> (ticket: UInt64, begins: Bool) {
        lastTicket += 1
        // While handshakes wait, a timer calls `expire(now:)`.
        if line.isEmpty { giveUpPlaces(now) }
        let begins = line.isEmpty && places.count < limit.places
        if begins {
            takePlace(lastTicket, now)
        } else {
            line.append(Entry(ticket: lastTicket, arrival: now, waiter: waiter))
        }
        return (lastTicket, begins)
    }

    /// Removes a handshake that has ended, with its place or its wait. Returns the one that begins in its place.
    mutating func leave(_ ticket: UInt64, now: NIODeadline) -> Waiter? {
        guard let index = places.firstIndex(where: { $0.ticket == ticket }) else {
            withdraw(ticket)
            return nil
        }
        places.remove(at: index)
        return next(now)
    }

    /// Takes the places of handshakes that have not ended in time. Returns the handshakes that begin.
    mutating func expire(now: NIODeadline) -> [Waiter] {
        guard giveUpPlaces(now) else { return [] }
        var waiters: [Waiter] = []
        while let waiter = next(now) { waiters.append(waiter) }
        // These have no place.
        while let first = line.first, first.arrival + limit.patience <= now, let waiter = popFirst()?.waiter {
            waiters.append(waiter)
        }
        return waiters
    }

    @discardableResult
    private mutating func giveUpPlaces(_ now: NIODeadline) -> Bool {
        let ended = places.prefix { $0.end <= now }.count
        places.removeFirst(ended)
        return ended > 0
    }

    private mutating func takePlace(_ ticket: UInt64, _ now: NIODeadline) {
        places.append(Place(ticket: ticket, end: now + limit.patience))
    }

    /// Returns the first waiter, which takes a place; nil if none waits or all places are taken.
    private mutating func next(_ now: NIODeadline) -> Waiter? {
        guard places.count < limit.places, let entry = popFirst() else { return nil }
        takePlace(entry.ticket, now)
        return entry.waiter
    }

    private mutating func popFirst() -> Entry? {
        defer { dropWithdrawn() }
        return line.popFirst()
    }

    private mutating func withdraw(_ ticket: UInt64) {
        guard let index = index(of: ticket) else { return }
        line[index].waiter = nil
        dropWithdrawn()
    }

    private mutating func dropWithdrawn() {
        while let first = line.first, first.waiter == nil { line.removeFirst() }
        if line.isEmpty && line.capacity > 0 { line = CircularBuffer(initialCapacity: 0) }
    }

    /// The position of a ticket in the line, which is ordered by tickets.
    private func index(of ticket: UInt64) -> CircularBuffer<Entry>.Index? {
        var (low, high) = (0, line.count)
        while low < high {
            let middle = (low + high) / 2
            if line[offset: middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        guard low < line.count, line[offset: low].ticket == ticket else { return nil }
        return line.index(line.startIndex, offsetBy: low)
    }
}
