import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

@Suite("Concurrency limiter", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ConcurrencyLimiterTests {
    // MARK: The machine

    private static var settings: ConcurrencyLimiter.Configuration {
        var settings = ConcurrencyLimiter.Configuration()
        (settings.initialLimit, settings.minimumLimit, settings.maximumLimit) = (4, 2, 6)
        settings.decreaseFactor = 0.5
        return settings
    }

    /// Begins as many requests as the limit allows, or the given number if that is less, and ends them.
    private func round(
        _ machine: inout ConcurrencyMachine, _ outcome: ConcurrencyMachine.Outcome, of count: Int = .max
    ) {
        var rounds: [ConcurrencyMachine.Round] = []
        while rounds.count < count, let round = machine.begin() { rounds.append(round) }
        for round in rounds { machine.end(outcome, of: round) }
    }

    @Test func theLimitGrowsByOneEachRound() {
        var machine = ConcurrencyMachine(Self.settings)
        #expect(machine.limit == 4)
        // 4 + 1/4 + 1/4.25 + ... is a little less than 5 after four.
        round(&machine, .success)
        #expect(machine.limit == 4)
        round(&machine, .success)
        #expect(machine.limit == 5)
        for _ in 0..<10 { round(&machine, .success) }
        #expect(machine.limit == 6)
    }

    @Test func anOverloadOfManyRequestsCountsOnce() {
        var machine = ConcurrencyMachine(Self.settings)
        round(&machine, .overload)
        #expect(machine.limit == 2)
        for _ in 0..<10 { round(&machine, .overload) }
        #expect(machine.limit == 2)
        #expect(machine.running == 0)
    }

    @Test func aLimitThatIsNotUsedDoesNotGrow() throws {
        var machine = ConcurrencyMachine(Self.settings)
        for _ in 0..<100 {
            let round = machine.begin()
            machine.end(.success, of: try #require(round))
        }
        #expect(machine.limit == 4)
        #expect(machine.isIdle)
    }

    /// A server that can serve ten requests at once, and refuses all beyond them.
    @Test func theLimitFindsWhatAServerCanServe() {
        var machine = ConcurrencyMachine(ConcurrencyLimiter.Configuration())
        var (limits, refused, all): (Set<Int>, Int, Int) = ([], 0, 0)
        for number in 0..<1000 {
            var rounds: [ConcurrencyMachine.Round] = []
            while let round = machine.begin() { rounds.append(round) }
            for (place, round) in rounds.enumerated() { machine.end(place < 10 ? .success : .overload, of: round) }
            guard number >= 100 else { continue }
            limits.insert(machine.limit)
            all += rounds.count
            refused += max(0, rounds.count - 10)
        }
        #expect(limits.isSuperset(of: [9, 10, 11]) && limits.isSubset(of: [8, 9, 10, 11]))
        #expect(refused * 20 < all)
    }

    @Test func unknownOutcomesChangeNothing() {
        var machine = ConcurrencyMachine(Self.settings)
        for _ in 0..<10 { round(&machine, .unknown) }
        #expect(machine.isIdle)
    }

    @Test func theHighestLimitIsAnyNumber() {
        var settings = Self.settings
        (settings.initialLimit, settings.maximumLimit) = (.max, .max)
        var machine = ConcurrencyMachine(settings)
        #expect(machine.limit == .max)
        round(&machine, .overload, of: 1)
        #expect(machine.limit == 1 << 62)
    }

    @Test(
        arguments: [
            { $0.minimumLimit = 0 }, { $0.initialLimit = 0 }, { $0.maximumLimit = 19 }, { $0.decreaseFactor = 0 },
            { $0.decreaseFactor = 1 }, { $0.decreaseFactor = .nan },
        ] as [@Sendable (inout ConcurrencyLimiter.Configuration) -> Void])
    func invalidConfigurationsAreRefused(change: @Sendable (inout ConcurrencyLimiter.Configuration) -> Void) {
        #expect {
            try HTTPSession { $0.concurrencyLimiter = ConcurrencyLimiter(change) }
        } throws: { ($0 as? SessionError)?.code == .invalidConfiguration }
    }

    // MARK: A session

    private static func url() throws -> URL { try #require(URL(string: "http://example.com/")) }

    /// A session with a limiter over a transport whose answers wait for a gate.
    private func withSession(
        _ limit: Int, status: Int = 200,
        perform: (HTTPSession, ConcurrencyLimiter, StubTransport, Gate) async throws -> Void
    ) async throws {
        let gate = Gate()
        let transport = StubTransport { _ in
            try await gate.pass()
            return .status(.init(code: status))
        }
        let limiter = ConcurrencyLimiter {
            ($0.initialLimit, $0.maximumLimit) = (limit, limit)
            $0.decreaseFactor = 0.5
        }
        let session = try makeClient(transport) { $0.concurrencyLimiter = limiter }
        try await perform(session, limiter, transport, gate)
        await session.shutdown(.immediate)
    }

    /// Lets answers pass one by one.
    private final class Gate: Sendable {
        private let entered = EventRecorder<Void>()
        private let signals = Mutex<[Signal]>([])

        func pass() async throws {
            let signal = Signal()
            signals.withLock { $0.append(signal) }
            entered.record(())
            await signal.wait()
            try Task.checkCancellation()
        }

        /// Waits until this many requests have come in all.
        func wait(count: Int) async throws { try await entered.wait(count: count) }

        /// Lets the request with this number pass.
        func open(_ number: Int) { signals.withLock { $0[number] }.fire() }
    }

    @Test func requestsBeyondTheLimitWaitInOrder() async throws {
        try await withSession(2) { session, limiter, transport, gate in
            let url = try Self.url()
            let waits = EventRecorder<TaskEvent.Decision>()
            session.onEvent { if case .decided(let decision) = $0.kind { waits.record(decision) } }
            try await withThrowingTaskGroup { group in
                for number in 0..<5 {
                    group.addTask { try await session.get("\(number)").response() }
                    if number < 2 {
                        try await gate.wait(count: number + 1)
                    } else {
                        while limiter.waitingRequests(for: url) < number - 1 { await Task.yield() }
                    }
                }
                #expect(transport.requests.count == 2)
                try await waits.wait(count: 3)
                for number in 0..<5 {
                    gate.open(number)
                    if number < 3 { try await gate.wait(count: number + 3) }
                }
                try await group.waitForAll()
            }
            #expect(transport.requests.map(\.head.path) == (0..<5).map { "/api/\($0)" })
            #expect(limiter.waitingRequests(for: url) == 0)
            #expect(waits.events.count == 3)
        }
    }

    @Test func aWaiterThatIsCancelledLeaves() async throws {
        try await withSession(1) { session, limiter, transport, gate in
            let url = try Self.url()
            async let first = session.get("a").response()
            try await gate.wait(count: 1)
            let waiting = Task { await sessionError { try await session.get("b").response() } }
            while limiter.waitingRequests(for: url) < 1 { await Task.yield() }
            waiting.cancel()
            #expect(await waiting.value?.code == .cancelled)
            #expect(limiter.waitingRequests(for: url) == 0)
            gate.open(0)
            _ = try await first
            #expect(transport.requests.count == 1)
        }
    }

    /// Another session has all places.
    @Test func anImmediateShutdownEndsTheWait() async throws {
        try await withSession(1) { session, limiter, _, gate in
            let url = try Self.url()
            async let first = session.get("a").response()
            try await gate.wait(count: 1)
            let other = try makeClient(StubTransport()) { $0.concurrencyLimiter = limiter }
            let waiting = Task { await sessionError { try await other.get("b").response() } }
            while limiter.waitingRequests(for: url) < 1 { await Task.yield() }
            await other.shutdown(.immediate)
            #expect(await waiting.value?.code == .shutDown)
            #expect(limiter.waitingRequests(for: url) == 0)
            gate.open(0)
            _ = try await first
        }
    }

    @Test func waitingCountsAgainstTheTimeout() async throws {
        try await withSession(1) { session, limiter, transport, gate in
            let url = try Self.url()
            async let first = session.get("a").response()
            try await gate.wait(count: 1)
            var options = RequestOptions()
            options.timeout = .milliseconds(20)
            let error = await sessionError { [options] in try await session.get("b").options(options).response() }
            #expect(error?.code == .timeout && error?.timeout == .request)
            #expect(limiter.waitingRequests(for: url) == 0)
            gate.open(0)
            _ = try await first
        }
    }

    @Test func aRequestThatIsCancelledGivesItsPlaceBack() async throws {
        try await withSession(1) { session, limiter, _, gate in
            let url = try Self.url()
            let first = Task { await sessionError { try await session.get("a").response() } }
            try await gate.wait(count: 1)
            async let second = session.get("b").response()
            while limiter.waitingRequests(for: url) < 1 { await Task.yield() }
            first.cancel()
            gate.open(0)
            #expect(await first.value?.code == .cancelled)
            try await gate.wait(count: 2)
            gate.open(1)
            _ = try await second
            #expect(limiter.limit(of: url) == 1)
        }
    }

    @Test func anOverloadShrinksTheLimit() async throws {
        try await withSession(8, status: 503) { session, limiter, _, gate in
            let url = try Self.url()
            async let error = sessionError { try await session.get("a").response() }
            try await gate.wait(count: 1)
            gate.open(0)
            #expect(await error?.code == .unacceptableStatus)
            #expect(limiter.limit(of: url) == 4)
        }
    }

    /// The timer around the request cancels it, and the place is given back before that is called a timeout.
    @Test func aTimeoutOfTheWholeRequestIsAnOverload() async throws {
        let limiter = ConcurrencyLimiter {
            ($0.initialLimit, $0.decreaseFactor) = (8, 0.5)
        }
        let body = StubTransport.Body()
        let session = try makeClient(StubTransport { _ in .stream(body) }) { $0.concurrencyLimiter = limiter }
        let error = await sessionError { try await session.get("a").timeout(.milliseconds(20)).data() }
        #expect(error?.timeout == .request)
        #expect(limiter.limit(of: try Self.url()) == 4)
        await session.shutdown(.immediate)
    }

    @Test func originsAreIndependentAndForgotten() throws {
        let limiter = ConcurrencyLimiter { $0.initialLimit = 1 }
        var permits: [ConcurrencyPermit] = []
        for number in 0..<3000 {
            let origin = try Origin(#require(URL(string: "http://host\(number).test/")))
            let permit = try #require(limiter.permit(for: origin))
            if number.isMultiple(of: 100) { permits.append(permit) }
        }
        #expect(limiter.originCount <= 1000 + permits.count)
        for permit in permits { permit.end(.success) }
        // Those in use were not forgotten.
        #expect(limiter.limit(of: try #require(URL(string: "http://host0.test/"))) == 2)
    }
}
