internal import FoundationEssentials
internal import LinnetSecurity

/// The tickets of a transport: some for each key, the least recently used dropped first.
///
/// Holds tickets of one policy at a time: the one under which a connection was last opened.
struct TLSSessionCacheMachine<Session: Sendable> {
    typealias Ticket = TLSSessionTicket<Session>

    /// A ticket that is to be offered, and its number, by which it can be forgotten.
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

    /// The newest ticket that can be offered now; one for a single use is then gone.
    ///
    /// A key of another policy drops what there is: its verdicts will not be asked for again.
    mutating func take(_ key: TLSSessionKey, now: Date) -> Offer? {
        if policy != key.policy {
            removeAll()
            policy = key.policy
        }
        guard var shelf = shelves[key] else { return nil }
        let kept = shelf.offers.count
        shelf.offers.removeAll { !$0.ticket.isUsable(at: now) }
        let offer = shelf.offers.last
        if offer?.ticket.isSingleUse == true { shelf.offers.removeLast() }
        count -= kept - shelf.offers.count
        shelf.lastUse = tick()
        shelves[key] = shelf.offers.isEmpty ? nil : shelf
        return offer
    }

    /// Keeps a ticket, unless the policy under which it was given has been replaced.
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

    /// Forgets a ticket that the server did not take.
    mutating func discard(_ number: UInt64, _ key: TLSSessionKey) {
        guard var shelf = shelves[key], let index = shelf.offers.firstIndex(where: { $0.number == number }) else {
            return
        }
        shelf.offers.remove(at: index)
        count -= 1
        shelves[key] = shelf.offers.isEmpty ? nil : shelf
    }

    /// Forgets all tickets.
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
