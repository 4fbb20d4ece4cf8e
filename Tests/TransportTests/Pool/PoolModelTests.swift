import CommandSupport
import LinnetMessages
import LinnetSecurity
import NIOCore
import Testing

@testable import LinnetTransport

/// Runs random histories on the pool, in the time of an embedded event loop, and checks the invariants after each
/// event.
@Suite("Connection pool, random histories", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct PoolModelTests {
    /// The test's knowledge of an open connection: only its own actions.
    private struct Known {
        let opened: FakeOpener.Opened
        var capacity: Int
        var leases = 0
        /// Whether the server, or a replacement of the policy, lets it end with its last exchange.
        var isRetiring = false
        var unusedSince: NIODeadline

        var connection: HTTPConnection { opened.connection }
        var key: PoolKey { connection.key }
        var hasRoom: Bool { !isRetiring && leases < capacity }
    }

    private struct World {
        let bench: PoolBench
        let limits: TransportConfiguration.PoolLimits
        let multiplexed: Int
        let origins: [Origin]
        var waiting: [PoolBench.Request] = []
        var known: [UInt64: Known] = [:]
        var terms = ConnectionTerms(.systemTrust)
        var random: SplitMix
        let seed: UInt64

        init(seed: UInt64) throws {
            var random = SplitMix(seed: seed)
            var limits = TransportConfiguration.PoolLimits()
            limits.connectionsPerOrigin = Int.random(in: 1...3, using: &random)
            limits.connections = Int.random(in: 1...5, using: &random)
            limits.idleTimeout = .seconds(30)
            let multiplexed = Int.random(in: 1...2, using: &random)
            let given = limits
            bench = PoolBench {
                $0.pool = given
                $0.http2.maximumConnectionsPerOrigin = multiplexed
            }
            (self.limits, self.multiplexed, self.random, self.seed) = (limits, multiplexed, random, seed)
            origins = try ["a", "b", "m"].map { try PoolBench.origin($0) }
        }

        // MARK: Events

        mutating func step() throws {
            let ids = known.keys.sorted()
            switch Int.random(in: 0..<16, using: &random) {
            case 0...3:
                let wait: Duration? = [.seconds(5), .seconds(60), nil].randomElement(using: &random) ?? nil
                waiting.append(bench.request(origins[Int.random(in: 0..<3, using: &random)], poolWait: wait))
            case 4...5:
                if let attempt = bench.opener.attempts.randomElement(using: &random) { try open(attempt) }
            case 6:
                guard let attempt = bench.opener.attempts.randomElement(using: &random) else { break }
                bench.opener.fail(attempt, TransportError(.connectionFailed, "The server refuses the connection."))
            case 7...9:
                if let id = ids.filter({ known[$0]?.leases ?? 0 > 0 }).randomElement(using: &random) { endExchange(id) }
            case 10:
                if let id = ids.randomElement(using: &random) { known[id]?.opened.channel.close(promise: nil) }
            case 11:
                waiting.randomElement(using: &random)?.task.cancel()
            case 12:
                bench.advance(by: .milliseconds(Int64.random(in: 1...20_000, using: &random)))
            case 13:
                guard
                    let id = ids.filter({ known[$0]?.connection.isMultiplexed == true }).randomElement(using: &random),
                    known[id]?.isRetiring == false
                else { break }
                let capacity = Int.random(in: 0...4, using: &random)
                known[id]?.capacity = capacity
                if known[id]?.leases == 0 { known[id]?.unusedSince = bench.now }
                known[id]?.connection.capacityChanged(capacity)
            case 14:
                guard let id = ids.filter({ known[$0]?.connection.isMultiplexed == true }).randomElement(using: &random)
                else { break }
                known[id]?.isRetiring = true
                known[id]?.connection.isRetiring()
                endIfRetired(id)
            default:
                upkeep()
            }
            settle()
        }

        private mutating func upkeep() {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                bench.pool.closeIdle()
            case 1:
                for id in known.keys { known[id]?.isRetiring = true }
                bench.pool.retireConnections()
            case 2:
                terms = terms.replacing(.systemTrust(anchors: .system))
                for id in known.keys { known[id]?.isRetiring = true }
                let next = terms
                bench.pool.replaceTerms { _ in next }
            default:
                break
            }
        }

        private mutating func open(_ attempt: FakeOpener.Attempt) throws {
            let opened = try bench.opener.succeed(attempt)
            known[opened.connection.id] = Known(
                opened: opened, capacity: opened.connection.capacity,
                isRetiring: !opened.connection.key.isValid(under: terms), unusedSince: bench.now)
        }

        private mutating func endExchange(_ id: UInt64) {
            known[id]?.leases -= 1
            known[id]?.unusedSince = bench.now
            known[id]?.connection.exchangeEnded()
            bench.settle()
            endIfRetired(id)
        }

        /// A multiplexed connection that retires closes itself after its last exchange.
        private func endIfRetired(_ id: UInt64) {
            guard let known = known[id], known.isRetiring, known.leases == 0, known.connection.isMultiplexed else {
                return
            }
            known.opened.channel.close(promise: nil)
        }

        // MARK: Invariants after each event

        mutating func settle() {
            bench.settle()
            for request in waiting {
                switch bench.outcome(request) {
                case .success(let connection): granted(connection, to: request)
                case .failure(let error): failed(request, error)
                case nil: continue
                }
            }
            waiting.removeAll { bench.outcome($0) != nil }
            known = known.filter { $0.value.connection.isOpen }
            checkLimits()
            checkProgress()
        }

        /// A connection is to the origin, current, open, and has room.
        private mutating func granted(_ connection: HTTPConnection, to request: PoolBench.Request) {
            guard let before = known[connection.id] else {
                Issue.record("seed \(seed): an unknown connection")
                return
            }
            known[connection.id]?.leases += 1
            #expect(connection.key == PoolKey(request.origin, under: terms), "seed \(seed)")
            // The test itself may have closed it in the same event.
            if connection.isOpen { #expect(before.hasRoom, "seed \(seed)") }
        }

        private func failed(_ request: PoolBench.Request, _ error: TransportError) {
            switch error.code {
            case .poolTimeout:
                let due = request.poolWait.map { NIODeadline.after($0, from: request.start) } ?? .distantFuture
                #expect(bench.now >= due, "seed \(seed): request \(request.id) failed too early")
            case .cancelled:
                #expect(request.task.isCancelled, "seed \(seed)")
            default:
                #expect(error.code == .connectionFailed, "seed \(seed): \(error)")
            }
        }

        private func limit(_ key: PoolKey) -> Int {
            key.origin.host == "m.test" ? multiplexed : limits.connectionsPerOrigin
        }

        private func connections(_ key: PoolKey) -> Int {
            known.values.count { $0.key == key && !$0.isRetiring }
                + bench.opener.attempts.count { $0.key == key }
        }

        private func checkLimits() {
            #expect(bench.pool.openConnections == known.count + bench.opener.attempts.count, "seed \(seed)")
            #expect(bench.pool.openConnections <= limits.connections, "seed \(seed)")
            for origin in origins {
                let key = PoolKey(origin, under: terms)
                #expect(connections(key) <= limit(key), "seed \(seed): \(origin.host)")
            }
            for request in waiting {
                let due = request.poolWait.map { NIODeadline.after($0, from: request.start) } ?? .distantFuture
                #expect(bench.now < due, "seed \(seed): request \(request.id) waits too long")
            }
            // The timer for unused connections has an interval of the same 30 seconds.
            for unused in known.values where unused.leases == 0 && unused.hasRoom {
                #expect(bench.now - unused.unusedSince <= .seconds(60), "seed \(seed)")
            }
        }

        /// A request waits only if there is nothing that could serve it.
        private func checkProgress() {
            for request in waiting {
                let key = PoolKey(request.origin, under: terms)
                #expect(!known.values.contains { $0.key == key && $0.hasRoom }, "seed \(seed): a place is free")
                // A connection that serves one request at a time counts until it has closed.
                let closing = known.values.count { $0.key == key && $0.isRetiring && !$0.connection.isMultiplexed }
                guard !bench.opener.attempts.contains(where: { $0.key == key }), connections(key) + closing < limit(key)
                else { continue }
                #expect(bench.pool.openConnections == limits.connections, "seed \(seed): there is room")
                #expect(!known.values.contains { $0.leases == 0 && $0.hasRoom }, "seed \(seed): one is unused")
            }
        }

        // MARK: The end

        /// Lets servers accept and answer everything, until no request waits.
        mutating func finish() throws {
            for _ in 0..<10_000 where !waiting.isEmpty {
                if let attempt = bench.opener.attempts.first {
                    try open(attempt)
                } else if let id = known.keys.sorted().first(where: { known[$0]?.leases ?? 0 > 0 }) {
                    endExchange(id)
                } else if let id = known.keys.sorted().first(where: { known[$0]?.capacity == 0 }) {
                    // The server of a connection without streams closes it.
                    known[id]?.opened.channel.close(promise: nil)
                } else {
                    break
                }
                settle()
            }
            #expect(waiting.isEmpty, "seed \(seed)")
            #expect(try bench.shutDown(), "seed \(seed)")
            #expect(bench.pool.openConnections == 0, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func limitsHoldAndNoRequestWaitsForNothing(seed: UInt64) throws {
        var world = try World(seed: seed)
        for _ in 0..<300 { try world.step() }
        try world.finish()
    }
}
