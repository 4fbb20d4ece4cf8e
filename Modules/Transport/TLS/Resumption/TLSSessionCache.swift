internal import FoundationEssentials
internal import Synchronization

/// The TLS sessions that a transport's connections may resume.
final class TLSSessionCache: Sendable {
    typealias Machine = TLSSessionCacheMachine<TLSSession>

    /// The time of day, by which certificates expire.
    let now: @Sendable () -> Date
    private let machine: Mutex<Machine>

    init(_ machine: Machine = Machine(), now: @escaping @Sendable () -> Date = { Date() }) {
        self.machine = Mutex(machine)
        self.now = now
    }

    /// How many tickets there are.
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
