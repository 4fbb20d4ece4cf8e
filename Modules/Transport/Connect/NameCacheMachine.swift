/// The answers about names that are still good, and the questions that are being asked, each of them once.
///
/// A waiter is whatever the owner hands an answer to.
struct NameCacheMachine<Waiter> {
    /// One look-up.
    struct Query: Hashable, Sendable {
        let name: String
        fileprivate let number: UInt64
    }

    enum Step {
        case answer(NameAnswer)
        /// Somebody has asked already; the waiter is remembered.
        case wait
        /// The waiter is remembered; ask, and say what came of it.
        case ask(Query)
    }

    private struct Entry {
        let answer: NameAnswer
        let expires: ContinuousClock.Instant
    }

    private let lifetime: Duration
    private let unknownLifetime: Duration
    private let names: Int
    private var entries: [String: Entry] = [:]
    /// The queries that a new waiter may join.
    private var open: [String: Query] = [:]
    private var waiters: [Query: [Waiter]] = [:]
    private var queries: UInt64 = 0

    /// - Parameters:
    ///   - lifetime: How long addresses are kept.
    ///   - unknownLifetime: How long it is kept that a name has none; no longer than addresses.
    ///   - names: How many names are kept.
    init(lifetime: Duration, unknownLifetime: Duration = .seconds(1), names: Int = 1000) {
        self.lifetime = lifetime
        self.unknownLifetime = min(unknownLifetime, lifetime)
        self.names = names
    }

    /// How many answers are kept.
    var count: Int { entries.count }

    mutating func lookUp(_ name: String, waiter: Waiter, now: ContinuousClock.Instant) -> Step {
        if let entry = entries[name] {
            if now < entry.expires { return .answer(entry.answer) }
            entries[name] = nil
        }
        if let query = open[name] {
            waiters[query]?.append(waiter)
            return .wait
        }
        queries += 1
        let query = Query(name: name, number: queries)
        open[name] = query
        waiters[query] = [waiter]
        return .ask(query)
    }

    /// Keeps an answer, and gives those who wait for it.
    mutating func answered(_ query: Query, _ answer: NameAnswer, now: ContinuousClock.Instant) -> [Waiter] {
        if open[query.name] == query {
            open[query.name] = nil
            keep(answer, query.name, now)
        }
        return waiters.removeValue(forKey: query) ?? []
    }

    /// Forgets a name's addresses. That it has none stays known.
    mutating func forget(_ name: String) {
        if case .addresses = entries[name]?.answer { entries[name] = nil }
    }

    /// Forgets all answers. Queries that were under way serve those who wait for them, and nobody who comes later.
    mutating func clear() {
        entries = [:]
        open = [:]
    }

    private mutating func keep(_ answer: NameAnswer, _ name: String, _ now: ContinuousClock.Instant) {
        let lifetime: Duration =
            switch answer {
            case .addresses: lifetime
            case .unknown: unknownLifetime
            case .failed: .zero
            }
        guard lifetime > .zero else { return }
        if entries.count >= names { makeRoom(now) }
        entries[name] = Entry(answer: answer, expires: now + lifetime)
    }

    private mutating func makeRoom(_ now: ContinuousClock.Instant) {
        entries = entries.filter { now < $0.value.expires }
        guard entries.count >= names, let first = entries.min(by: { $0.value.expires < $1.value.expires }) else {
            return
        }
        entries[first.key] = nil
    }
}
