internal import NIOCore
internal import Synchronization

/// Resolves names through overrides, a cache, or one query per name at a time.
final class NameCache: Sendable {
    typealias Waiter = @Sendable (NameAnswer) -> Void
    typealias Query = NameCacheMachine<Waiter>.Query
    /// The place of a waiter.
    typealias Ticket = NameCacheMachine<Waiter>.Ticket

    /// The result of asking for a name.
    enum Lookup: Sendable {
        /// The answer was known; the waiter is not called.
        case answered(NameAnswer)
        /// The waiter is called once, unless the ticket is cancelled before.
        case waiting(Ticket)
    }

    private let overrides: [String: NameAnswer]
    private let machine: Mutex<NameCacheMachine<Waiter>>
    private let threads: LookupThreads
    private let resolve: @Sendable (String) -> NameAnswer

    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the lifetime is negative, or an override is not for a
    ///   host name or does not contain IP addresses.
    init(
        _ options: TransportConfiguration.Resolution, on threads: LookupThreads = .shared,
        resolve: @escaping @Sendable (String) -> NameAnswer = SystemResolver.lookUp
    ) throws(TransportError) {
        guard options.cacheLifetime >= .zero else {
            throw TransportError(
                .invalidConfiguration, "The lifetime of resolved names is negative; it must be 0 or more.")
        }
        var overrides: [String: NameAnswer] = [:]
        for (name, addresses) in options.hostOverrides {
            let addresses = try Self.addresses(addresses, of: name)
            guard overrides.updateValue(.addresses(addresses), forKey: Self.withoutDot(Self.key(name))) == nil else {
                throw TransportError(.invalidConfiguration, "There are two overrides for the host \"\(name)\".")
            }
        }
        self.overrides = overrides
        self.threads = threads
        self.resolve = resolve
        machine = Mutex(NameCacheMachine(lifetime: min(options.cacheLifetime, .seconds(24 * 60 * 60))))
    }

    /// Returns the answer for a name, or queries it and calls `waiter`: on another thread, or before this returns if
    /// the name cannot be queried.
    func lookUp(_ host: String, waiter: @escaping Waiter) -> Lookup {
        let name = Self.key(host)
        if !overrides.isEmpty, let answer = overrides[Self.withoutDot(name)] { return .answered(answer) }
        switch machine.withLock({ $0.lookUp(name, waiter: waiter, now: .now) }) {
        case .answer(let answer):
            return .answered(answer)
        case .wait(let ticket):
            return .waiting(ticket)
        case .ask(let ticket):
            ask(ticket.query, host)
            return .waiting(ticket)
        }
    }

    /// Stops waiting. A query that has not begun, and has no other waiter, is never made.
    func cancel(_ ticket: Ticket) {
        guard let abandoned = machine.withLock({ $0.cancel(ticket) }) else { return }
        threads.withdraw(job(abandoned))
    }

    private func ask(_ query: Query, _ host: String) {
        threads.add(job(query)) { [self] error in
            if let error { return finish(query, .failed(error)) }
            guard machine.withLock({ $0.begin(query) }) else { return }
            finish(query, resolve(host))
        }
    }

    private func finish(_ query: Query, _ answer: NameAnswer) {
        let waiters = machine.withLock { $0.answered(query, answer, now: .now) }
        for waiter in waiters { waiter(answer) }
    }

    private func job(_ query: Query) -> LookupThreads.ID {
        LookupThreads.ID(owner: ObjectIdentifier(self), number: query.number)
    }

    /// Drops the addresses of a name that could not be connected to.
    func forget(_ host: String) {
        machine.withLock { $0.forget(Self.key(host)) }
    }

    /// Drops all cached addresses. The results of queries that are under way are not cached.
    func clear() {
        machine.withLock { $0.clear() }
    }

    /// Names are compared in lower case. A trailing dot makes a different name for the system, which then uses no
    /// search domains.
    private static func key(_ host: String) -> String {
        host.utf8.contains { (65...90).contains($0) } ? host.lowercased() : host
    }

    private static func withoutDot(_ name: String) -> String {
        name.utf8.last == UInt8(ascii: ".") ? String(name.dropLast()) : name
    }

    private static func addresses(_ texts: [String], of name: String) throws(TransportError) -> [SocketAddress] {
        guard !name.isEmpty, (try? SocketAddress(ipAddress: name, port: 0)) == nil else {
            throw TransportError(.invalidConfiguration, "\"\(name)\" is not a host name, which an override requires.")
        }
        guard !texts.isEmpty else {
            throw TransportError(.invalidConfiguration, "The override for \"\(name)\" has no address.")
        }
        var addresses: [SocketAddress] = []
        for text in texts {
            // C strings end at a null byte.
            guard !text.utf8.contains(0), let address = try? SocketAddress(ipAddress: text, port: 0) else {
                throw TransportError(
                    .invalidConfiguration,
                    "The override for \"\(name)\" contains \"\(text)\", which is not an IP address.")
            }
            addresses.append(address)
        }
        return addresses
    }
}

/// The cached answers and the pending queries, one per name.
///
/// `Waiter` is the type that the owner delivers answers to.
struct NameCacheMachine<Waiter> {
    /// One look-up.
    struct Query: Hashable, Sendable {
        let name: String
        let number: UInt64
    }

    /// The place of a waiter.
    struct Ticket: Sendable {
        let query: Query
        fileprivate let number: UInt64
    }

    enum Step {
        case answer(NameAnswer)
        /// There is a query; the waiter was added to it.
        case wait(Ticket)
        /// The waiter was added; start this query and report its answer.
        case ask(Ticket)
    }

    private struct Entry {
        let answer: NameAnswer
        let expires: ContinuousClock.Instant
    }

    /// A query without an answer.
    private struct Pending {
        /// The waiters by their numbers.
        var waiters: [UInt64: Waiter] = [:]
        /// Whether a thread makes the query.
        var hasBegun = false
    }

    private let lifetime: Duration
    private let unknownLifetime: Duration
    private let names: Int
    private var entries: [String: Entry] = [:]
    /// The queries that new waiters may join.
    private var open: [String: Query] = [:]
    private var pending: [Query: Pending] = [:]
    private var queries: UInt64 = 0
    private var tickets: UInt64 = 0

    /// - Parameters:
    ///   - lifetime: How long addresses are cached.
    ///   - unknownLifetime: The time for which the absence of addresses is cached; at most the time for addresses.
    ///   - names: The maximum number of cached names.
    init(lifetime: Duration, unknownLifetime: Duration = .seconds(1), names: Int = 1000) {
        self.lifetime = lifetime
        self.unknownLifetime = min(unknownLifetime, lifetime)
        self.names = names
    }

    /// The number of cached answers.
    var count: Int { entries.count }

    mutating func lookUp(_ name: String, waiter: Waiter, now: ContinuousClock.Instant) -> Step {
        if let entry = entries[name] {
            if now < entry.expires { return .answer(entry.answer) }
            entries[name] = nil
        }
        tickets += 1
        if let query = open[name] {
            pending[query]?.waiters[tickets] = waiter
            return .wait(Ticket(query: query, number: tickets))
        }
        queries += 1
        let query = Query(name: name, number: queries)
        open[name] = query
        pending[query] = Pending(waiters: [tickets: waiter])
        return .ask(Ticket(query: query, number: tickets))
    }

    /// Removes a waiter. Returns its query if that has not begun and has no other waiter, so that it is not made.
    mutating func cancel(_ ticket: Ticket) -> Query? {
        let query = ticket.query
        pending[query]?.waiters[ticket.number] = nil
        guard let rest = pending[query], rest.waiters.isEmpty, !rest.hasBegun else { return nil }
        pending[query] = nil
        if open[query.name] == query { open[query.name] = nil }
        return query
    }

    /// Called when a thread takes a query. Returns false if it is not to be made, since its last waiter was removed.
    mutating func begin(_ query: Query) -> Bool {
        pending[query]?.hasBegun = true
        return pending[query] != nil
    }

    /// Caches an answer and returns the waiters for it, in the order in which they came.
    mutating func answered(_ query: Query, _ answer: NameAnswer, now: ContinuousClock.Instant) -> [Waiter] {
        if open[query.name] == query {
            open[query.name] = nil
            keep(answer, query.name, now)
        }
        let waiters = pending.removeValue(forKey: query)?.waiters ?? [:]
        return waiters.sorted { $0.key < $1.key }.map { $0.value }
    }

    /// Drops the addresses of a name. The absence of addresses stays cached.
    mutating func forget(_ name: String) {
        if case .addresses = entries[name]?.answer { entries[name] = nil }
    }

    /// Drops all answers. Pending queries still answer their waiters, but new ones cannot join them.
    mutating func clear() {
        entries = [:]
        open = [:]
    }

    private mutating func keep(_ answer: NameAnswer, _ name: String, _ now: ContinuousClock.Instant) {
        let lifetime: Duration =
            switch answer {
            case .addresses: lifetime
            case .unknown: unknownLifetime
            // A name server that did not answer may answer the next query.
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
