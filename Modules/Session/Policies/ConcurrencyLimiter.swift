public import FoundationEssentials
internal import LinnetMessages
internal import LinnetTransport
internal import Synchronization

/// Limits the requests that run at an origin at once, and finds the limit: more while all goes well, fewer as soon as
/// the origin shows that it has too much to do.
///
/// ```swift
/// let limiter = ConcurrencyLimiter { $0.maximumLimit = 200 }
/// let session = try HTTPSession { $0.concurrencyLimiter = limiter }
/// print(limiter.limit(of: url))
/// ```
/// The limit of an origin grows by one when as many requests as it allows have succeeded, and is multiplied with
/// ``Configuration/decreaseFactor`` when a request meets one of ``Configuration/statusCodes`` or
/// ``Configuration/errorCodes`` (additive increase, multiplicative decrease, as TCP has it; RFC 5681). A limit by the
/// latency is not part of it: the requests of a client differ in what they ask for, so that their latencies say little
/// about the load of the server.
///
/// Further requests wait, in order of arrival. Waiting counts against their timeouts. A request runs until the head of
/// its response has arrived, or, where the body is read into memory, the body; a stream of hours takes no place. Each
/// exchange with a server counts, also the ones of retries and redirects, but not the answers of the cache.
///
/// Sessions that share a limiter share its limits. It knows at most 1,000 origins besides the ones in use.
public final class ConcurrencyLimiter: Sendable {
    /// The bounds of the limit, and what changes it.
    public struct Configuration: Sendable, Hashable {
        /// The limit of an origin of which nothing is known, from ``minimumLimit`` to ``maximumLimit``. The default is
        /// 20.
        public var initialLimit = 20
        /// The lowest limit, at least 1. The default is 1.
        public var minimumLimit = 1
        /// The highest limit of requests at once at one origin. The default is 1,000. Beyond it, requests wait.
        public var maximumLimit = 1000
        /// The factor by which an overload changes the limit, above 0 and below 1. The default is 0.75. The requests
        /// that run during the change cause no other one.
        public var decreaseFactor = 0.75
        /// The statuses that show an overload. The default is 429, 503 and 504.
        public var statusCodes: Set<Int> = [429, 503, 504]
        /// The errors that show an overload. The default is ``SessionError/Code/timeout`` and
        /// ``SessionError/Code/connectionFailed``. Other errors change nothing.
        public var errorCodes: Set<SessionError.Code> = [.timeout, .connectionFailed]

        /// Creates the defaults.
        public init() {}

        func check() throws(SessionError) {
            guard minimumLimit >= 1, minimumLimit <= initialLimit, initialLimit <= maximumLimit, decreaseFactor > 0,
                decreaseFactor < 1
            else {
                throw SessionError(
                    .invalidConfiguration,
                    "A concurrency limiter needs limits from 1 in ascending order, and a factor between 0 and 1.")
            }
        }
    }

    /// The requests of one origin.
    private struct Queue: OriginMachine {
        var machine: ConcurrencyMachine
        var waiters = Waiters<ConcurrencyMachine.Round?>()

        func isIdle(at now: Duration) -> Bool { machine.isIdle && waiters.isEmpty }
        var importance: OriginImportance { machine.running == 0 && waiters.isEmpty ? .known : .inUse }
    }

    /// The bounds and conditions.
    public let configuration: Configuration
    private let table = Mutex(OriginTable<Queue>())

    /// Creates a limiter. A session refuses an invalid configuration with ``SessionError/Code/invalidConfiguration``.
    public init(_ configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        self.configuration = configuration
    }

    /// The number of requests that may run at a URL's origin at once.
    public func limit(of url: URL) -> Int {
        guard let origin = try? Origin(url) else { return configuration.initialLimit }
        return table.withLock { $0[origin]?.machine.limit } ?? configuration.initialLimit
    }

    /// The number of requests that wait for a URL's origin.
    public func waitingRequests(for url: URL) -> Int {
        guard let origin = try? Origin(url) else { return 0 }
        return table.withLock { $0[origin]?.waiters.count } ?? 0
    }

    var originCount: Int { table.withLock { $0.count } }

    // MARK: The chain

    /// A permit for a request; nil if it must wait.
    func permit(for origin: Origin) -> ConcurrencyPermit? {
        // Requests that wait are first.
        let round = change(origin) { $0.waiters.isEmpty ? $0.machine.begin() : nil }
        return round.map { ConcurrencyPermit(self, origin, $0) }
    }

    /// Waits for a permit.
    func permit(for origin: Origin, _ url: URL) async throws(SessionError) -> ConcurrencyPermit {
        let round = await table.wait(
            in: { table, take in table.change(origin, at: .zero, make: self.makeQueue) { take(&$0.waiters) } },
            ifCancelled: { ConcurrencyMachine.Round?.none }
        ) { table in
            table.change(origin, at: .zero, make: makeQueue) { queue in
                queue.waiters.isEmpty ? queue.machine.begin().map { .some($0) } : nil
            }
        }
        guard let round else { throw .cancelled(url) }
        return ConcurrencyPermit(self, origin, round)
    }

    fileprivate func end(_ outcome: ConcurrencyMachine.Outcome, of round: ConcurrencyMachine.Round, _ origin: Origin) {
        let admitted = change(origin) { queue in
            queue.machine.end(outcome, of: round)
            var admitted: [(Waiters<ConcurrencyMachine.Round?>.Waiter, ConcurrencyMachine.Round)] = []
            while !queue.waiters.isEmpty, let round = queue.machine.begin(), let waiter = queue.waiters.takeFirst() {
                admitted.append((waiter, round))
            }
            return admitted
        }
        for (waiter, round) in admitted { waiter.resume(returning: round) }
    }

    private func change<Result>(_ origin: Origin, _ body: (inout Queue) -> Result) -> Result {
        table.withLock { $0.change(origin, at: .zero, make: makeQueue, body) }
    }

    private func makeQueue() -> Queue { Queue(machine: ConcurrencyMachine(configuration)) }
}

/// The place of a request among those that run at its origin. It is given back once: with the outcome of the request,
/// or when a request that has none is released.
final class ConcurrencyPermit: Sendable {
    private let limiter: ConcurrencyLimiter
    private let origin: Origin
    private let round: ConcurrencyMachine.Round
    private let hasEnded = Atomic(false)

    init(_ limiter: ConcurrencyLimiter, _ origin: Origin, _ round: ConcurrencyMachine.Round) {
        (self.limiter, self.origin, self.round) = (limiter, origin, round)
    }

    deinit { end(.unknown) }

    func end(_ outcome: ConcurrencyMachine.Outcome) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        limiter.end(outcome, of: round, origin)
    }
}
