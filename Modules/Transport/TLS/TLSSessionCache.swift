internal import FoundationEssentials
internal import LinnetSecurity
internal import Synchronization

/// The TLS sessions that a transport's connections may resume.
final class TLSSessionCache: Sendable {
    typealias Machine = TLSSessionCacheMachine<TLSSession>

    /// The wall clock, which certificate expiry depends on.
    let now: @Sendable () -> Date
    private let machine: Mutex<Machine>

    init(_ machine: Machine = Machine(), now: @escaping @Sendable () -> Date = { Date() }) {
        self.machine = Mutex(machine)
        self.now = now
    }

    /// The number of tickets.
    var count: Int { machine.withLock { $0.count } }

    func take(_ key: TLSSessionKey) -> Machine.Offer? {
        let now = now()
        return machine.withLock { $0.take(key, now: now) }
    }

    func store(_ ticket: Machine.Ticket, _ key: TLSSessionKey) {
        machine.withLock { $0.store(ticket, key) }
    }

    func discard(_ number: UInt64, _ key: TLSSessionKey) {
        machine.withLock { $0.discard(number, key) }
    }

    func removeAll() {
        machine.withLock { $0.removeAll() }
    }
}

/// The tickets of a transport: several for each key, with least-recently-used eviction.
///
/// A session of more than `TLSSession.mostBytes`, 16 KiB, is not stored, so that a thousand have at most 16 MiB.
/// OpenSSL's parsed certificates take some times the bytes of their chain; the tickets of one connection share them.
///
/// Contains tickets of one policy at a time: the policy of the last opened connection.
struct TLSSessionCacheMachine<HTTPSession: Sendable> {
    typealias Ticket = TLSSessionTicket<HTTPSession>

    /// A ticket to offer, with a number that identifies it.
    struct Offer: Sendable {
        let number: UInt64
        let ticket: Ticket
    }

    private struct Shelf {
        /// Oldest first.
        var offers: [Offer] = []
        var lastUse: UInt64
    }

    private let ticketsPerKey: Int
    private let tickets: Int
    private var shelves: [TLSSessionKey: Shelf] = [:]
    private var policy: SecurityPolicy.Identity?
    /// Numbers tickets and uses.
    private var clock: UInt64 = 0
    private(set) var count = 0

    init(ticketsPerKey: Int = 8, tickets: Int = 1000) {
        self.ticketsPerKey = ticketsPerKey
        self.tickets = tickets
    }

    /// Returns the newest usable ticket. A single-use ticket is removed.
    ///
    /// A key of another policy drops all tickets, since the earlier policy was replaced.
    mutating func take(_ key: TLSSessionKey, now: Date) -> Offer? {
        if policy != key.policy {
            removeAll()
            policy = key.policy
        }
        guard var shelf = shelves[key] else { return nil }
        let kept = shelf.offers.count
        shelf.offers.removeAll { !$0.ticket.isUsable(at: now) }
        // The server accepts the newest ticket for the longest time.
        let offer = shelf.offers.last
        if offer?.ticket.isSingleUse == true { shelf.offers.removeLast() }
        count -= kept - shelf.offers.count
        shelf.lastUse = tick()
        shelves[key] = shelf.offers.isEmpty ? nil : shelf
        return offer
    }

    /// Keeps a ticket unless its policy has been replaced.
    mutating func store(_ ticket: Ticket, _ key: TLSSessionKey) {
        guard key.policy == policy else { return }
        let number = tick()
        var shelf = shelves[key] ?? Shelf(lastUse: number)
        shelf.offers.append(Offer(number: number, ticket: ticket))
        shelf.lastUse = number
        count += 1
        if shelf.offers.count > ticketsPerKey {
            shelf.offers.removeFirst()
            count -= 1
        }
        shelves[key] = shelf
        if count > tickets { removeLeastRecentlyUsed() }
    }

    /// Removes a ticket that the server did not accept.
    mutating func discard(_ number: UInt64, _ key: TLSSessionKey) {
        guard var shelf = shelves[key], let index = shelf.offers.firstIndex(where: { $0.number == number }) else {
            return
        }
        shelf.offers.remove(at: index)
        count -= 1
        shelves[key] = shelf.offers.isEmpty ? nil : shelf
    }

    /// Removes all tickets.
    mutating func removeAll() {
        shelves = [:]
        count = 0
    }

    private mutating func removeLeastRecentlyUsed() {
        guard let (key, shelf) = shelves.min(by: { $0.value.lastUse < $1.value.lastUse }),
            let oldest = shelf.offers.first
        else { return }
        discard(oldest.number, key)
    }

    private mutating func tick() -> UInt64 {
        clock += 1
        return clock
    }
}

/// The properties that two connections must share for the second to resume a session of the first.
struct TLSSessionKey: Hashable, Sendable {
    let host: String
    let port: Int
    /// Decisions are only valid for the policy that made them.
    let policy: SecurityPolicy.Identity
    /// The protocols that ALPN offers (RFC 7301).
    let applicationProtocols: [String]
    /// The client identity; nil for none.
    var clientIdentity: ClientIdentity.ID?
    /// The proxy, because a ticket would let an observer link connections through it with others (RFC 8446, C.4); nil
    /// for none.
    var proxy: ProxyServer?
}
