import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetTransport

/// Sessions that must not be resumed, with two handlers over a socket.
@Suite("Sessions that are not resumed", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TLSResumptionFailureTests {
    static let versions = [TransportConfiguration.TLS.Version.tls12, .tls13]

    @Test(arguments: versions)
    func aSessionIsResumedWithItsVerdict(version: TransportConfiguration.TLS.Version) async throws {
        try await ResumptionBench.run(version) { bench in
            let first = try await bench.connect()
            #expect(!first.info.isResumed && first.verdicts == 1)
            let second = try await bench.connect()
            #expect(second.info.isResumed && second.verdicts == 0)
            #expect(second.info.trust?.isPinned == true)
            #expect(second.info.trust?.chain == first.info.trust?.chain)
            #expect(second.info.applicationProtocol == "http/1.1")
        }
    }

    @Test(arguments: versions)
    func aChainThatHasExpiredSinceIsPresentedAgain(version: TransportConfiguration.TLS.Version) async throws {
        try await ResumptionBench.run(version) { bench in
            _ = try await bench.connect(verdictHolds: 3600)
            bench.time.advance(by: 3599)
            let inTime = try await bench.connect(verdictHolds: 3600)
            #expect(inTime.info.isResumed)
            // The resumed connection's session depends on the same decision.
            bench.time.advance(by: 1)
            let late = try await bench.connect(verdictHolds: 3600)
            #expect(!late.info.isResumed && late.verdicts == 1)
        }
    }

    /// Also if the session is resumed repeatedly.
    @Test func aVerdictIsUsedForADayAtMost() async throws {
        try await ResumptionBench.run(.tls13) { bench in
            _ = try await bench.connect()
            // Each connection gets new tickets, over two hours.
            for _ in 0..<24 {
                bench.time.advance(by: 3599)
                #expect(try await bench.connect().info.isResumed)
            }
            bench.time.advance(by: 24)
            let late = try await bench.connect()
            #expect(!late.info.isResumed && late.verdicts == 1)
        }
    }

    @Test(arguments: versions)
    func aClockThatWasSetBackProvesNothing(version: TransportConfiguration.TLS.Version) async throws {
        try await ResumptionBench.run(version) { bench in
            _ = try await bench.connect()
            bench.time.advance(by: -1)
            #expect(try await !bench.connect().info.isResumed)
        }
    }

    @Test(arguments: versions)
    func aVerdictThatEndsDuringTheHandshakeFailsIt(version: TransportConfiguration.TLS.Version) async throws {
        try await ResumptionBench.run(version) { bench in
            _ = try await bench.connect(verdictHolds: 3600)
            bench.time.advance(by: 3500)
            bench.time.advance(byEachLook: 60)
            // Looks: the bench, the offer, the end of the handshake.
            let error = await #expect(throws: TransportError.self) { try await bench.connect() }
            #expect(error?.code == .tlsHandshakeFailed)
        }
    }

    /// OpenSSL does not ask when it resumes; the handshake must fail without an offer of ours.
    @Test(arguments: versions)
    func aResumedSessionThatWasNotOfferedFailsTheHandshake(version: TransportConfiguration.TLS.Version) async throws {
        try await ResumptionBench.run(version) { bench in
            _ = try await bench.connect()
            let error = await #expect(throws: TransportError.self) {
                try await bench.connect { $0?.forgetOffer() }
            }
            #expect(error?.code == .tlsHandshakeFailed)
        }
    }

    @Test(arguments: versions)
    func aServerThatTakesNoTicketIsJudged(version: TransportConfiguration.TLS.Version) async throws {
        try await ResumptionBench.run(version) { bench in
            _ = try await bench.connect()
            try bench.renewServer()
            let refused = try await bench.connect()
            #expect(!refused.info.isResumed && refused.verdicts == 1)
            #expect(try await bench.connect().info.isResumed)
        }
    }

    @Test func aTicketThatWasNotTakenIsForgotten() async throws {
        try await ResumptionBench.run(.tls12) { bench in
            _ = try await bench.connect()
            #expect(bench.cache.count == 1)
            try bench.renewServer(issuesTickets: false)
            #expect(try await bench.connect().verdicts == 1)
            #expect(bench.cache.count == 0)
        }
    }

    @Test func ticketsOfTLS13AreOfferedOnce() async throws {
        try await ResumptionBench.run(.tls13) { bench in
            _ = try await bench.connect()
            let given = bench.cache.count
            #expect(given > 0)
            let left = Mutex(0)
            let second = try await bench.connect { [cache = bench.cache] _ in left.withLock { $0 = cache.count } }
            #expect(second.info.isResumed)
            #expect(left.withLock { $0 } == given - 1)
        }
    }

    @Test func sessionsOfTLS12AreOfferedAgain() async throws {
        try await ResumptionBench.run(.tls12) { bench in
            _ = try await bench.connect()
            for _ in 0..<5 {
                #expect(try await bench.connect().info.isResumed)
                #expect(bench.cache.count == 1)
            }
        }
    }

    @Test(arguments: versions)
    func aForgottenSessionIsNotResumed(version: TransportConfiguration.TLS.Version) async throws {
        try await ResumptionBench.run(version) { bench in
            _ = try await bench.connect()
            bench.cache.removeAll()
            #expect(bench.cache.count == 0)
            #expect(try await bench.connect().verdicts == 1)
        }
    }
}
