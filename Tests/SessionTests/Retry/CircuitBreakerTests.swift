import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

@Suite("Circuit breaker", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CircuitBreakerTests {
    // MARK: The states, with a given clock

    private static var settings: CircuitBreaker.Configuration {
        var settings = CircuitBreaker.Configuration()
        settings.minimumRequests = 4
        settings.openDuration = .seconds(5)
        return settings
    }

    /// A machine after these outcomes, all at the same time.
    private func machine(_ outcomes: [CircuitMachine.Outcome], at now: Duration = .zero) -> CircuitMachine {
        var machine = CircuitMachine(Self.settings)
        for outcome in outcomes {
            guard case .admitted(let phase) = machine.admit(at: now) else { break }
            machine.record(outcome, of: phase, at: now)
        }
        return machine
    }

    @Test(
        arguments: [
            ([.failure, .failure, .failure], CircuitBreaker.State.closed),
            ([.failure, .failure, .failure, .failure], .open),
            ([.success, .success, .failure, .failure], .open),
            ([.success, .success, .success, .failure, .failure], .closed),
            ([.unknown, .unknown, .failure, .failure, .failure], .closed),
            ([], .closed),
        ] as [([CircuitMachine.Outcome], CircuitBreaker.State)])
    func enoughFailuresOpenTheCircuit(outcomes: [CircuitMachine.Outcome], state: CircuitBreaker.State) {
        #expect(machine(outcomes).state == state)
    }

    @Test func failuresAreForgottenAfterTenSeconds() {
        var machine = machine([.failure, .failure, .failure])
        guard case .admitted(let phase) = machine.admit(at: .seconds(10)) else { return #expect(Bool(false)) }
        machine.record(.failure, of: phase, at: .seconds(10))
        #expect(machine.state == .closed)
        #expect(!machine.isIdle(at: .seconds(19)))
        #expect(machine.isIdle(at: .seconds(20)))
    }

    @Test func anOpenCircuitRefusesUntilItsTime() {
        var machine = machine([.failure, .failure, .failure, .failure], at: .seconds(100))
        #expect(machine.admit(at: .seconds(101)) == .refused(.seconds(4)))
        #expect(machine.admit(at: .milliseconds(104_999)) == .refused(.milliseconds(1)))
        #expect(machine.state == .open)
        guard case .admitted = machine.admit(at: .seconds(105)) else { return #expect(Bool(false)) }
        #expect(machine.state == .halfOpen)
        #expect(machine.admit(at: .seconds(106)) == .refused(.seconds(4)))
    }

    @Test(
        arguments: [
            (.success, .closed, nil), (.failure, .open, .seconds(5)), (.unknown, .open, .zero),
        ] as [(CircuitMachine.Outcome, CircuitBreaker.State, Duration?)])
    func theProbeDecides(outcome: CircuitMachine.Outcome, state: CircuitBreaker.State, wait: Duration?) {
        var machine = machine([.failure, .failure, .failure, .failure])
        guard case .admitted(let probe) = machine.admit(at: .seconds(6)) else { return #expect(Bool(false)) }
        machine.record(outcome, of: probe, at: .seconds(7))
        #expect(machine.state == state)
        if case .refused(let left) = machine.admit(at: .seconds(7)) {
            #expect(left == wait)
        } else {
            #expect(wait == nil || wait == .zero)
        }
    }

    @Test func aProbeThatVanishesIsReplaced() {
        var machine = machine([.failure, .failure, .failure, .failure])
        guard case .admitted(let vanished) = machine.admit(at: .seconds(5)),
            case .admitted(let second) = machine.admit(at: .seconds(10))
        else { return #expect(Bool(false)) }
        machine.record(.failure, of: vanished, at: .seconds(11))
        #expect(machine.state == .halfOpen)
        machine.record(.success, of: second, at: .seconds(11))
        #expect(machine.state == .closed)
    }

    /// An origin that answers more slowly than probes are sent.
    @Test func theSuccessOfASlowProbeClosesTheCircuit() {
        var machine = machine([.failure, .failure, .failure, .failure])
        guard case .admitted(let slow) = machine.admit(at: .seconds(5)),
            case .admitted(let second) = machine.admit(at: .seconds(10))
        else { return #expect(Bool(false)) }
        machine.record(.success, of: slow, at: .seconds(11))
        #expect(machine.state == .closed)
        machine.record(.failure, of: second, at: .seconds(12))
        #expect(machine.state == .closed && machine.isIdle(at: .seconds(12)))
    }

    @Test func aProbeFromBeforeTheLastOpeningIsIgnored() {
        var machine = machine([.failure, .failure, .failure, .failure])
        guard case .admitted(let slow) = machine.admit(at: .seconds(5)),
            case .admitted(let second) = machine.admit(at: .seconds(10))
        else { return #expect(Bool(false)) }
        machine.record(.failure, of: second, at: .seconds(10))
        guard case .admitted = machine.admit(at: .seconds(15)) else { return #expect(Bool(false)) }
        machine.record(.success, of: slow, at: .seconds(16))
        #expect(machine.state == .halfOpen)
    }

    @Test func outcomesOfAnEarlierPhaseAreIgnored() {
        var machine = CircuitMachine(Self.settings)
        let phases = (0..<6).compactMap { _ in
            if case .admitted(let phase) = machine.admit(at: .zero) { phase } else { nil }
        }
        for phase in phases { machine.record(.failure, of: phase, at: .zero) }
        #expect(machine.state == .open)
        machine.record(.success, of: phases[0], at: .zero)
        #expect(machine.state == .open)
    }

    // MARK: Settings

    @Test(
        arguments: [
            { $0.failureShare = 0 }, { $0.failureShare = .nan }, { $0.failureShare = 1.1 }, { $0.minimumRequests = 0 },
            { $0.openDuration = .zero },
        ] as [@Sendable (inout CircuitBreaker.Configuration) -> Void])
    func aSessionRefusesAnInvalidBreaker(change: @Sendable (inout CircuitBreaker.Configuration) -> Void) {
        #expect {
            try HTTPSession { $0.circuitBreaker = CircuitBreaker(change) }
        } throws: { ($0 as? SessionError)?.code == .invalidConfiguration }
    }

    @Test func theNumberOfOriginsIsBounded() throws {
        let breaker = CircuitBreaker({ $0.minimumRequests = 1 }, now: { .zero })
        let failing = try Origin(#require(URL(string: "http://failing.test")))
        guard case .admitted(let phase) = breaker.admit(failing) else { return #expect(Bool(false)) }
        breaker.record(.failure, of: phase, failing)
        for number in 0..<3000 {
            let origin = try Origin(#require(URL(string: "http://host\(number).test")))
            guard case .admitted(let phase) = breaker.admit(origin) else { continue }
            breaker.record(.success, of: phase, origin)
        }
        #expect(breaker.originCount <= 1000)
        #expect(breaker.state(of: try #require(URL(string: "http://failing.test/x"))) == .open)
    }

    // MARK: A session

    @Test func aFailingOriginIsLeftAloneAndTriedAgain() async throws {
        let time = Mutex(Duration.zero)
        let breaker = CircuitBreaker({ $0.minimumRequests = 3 }, now: { time.withLock { $0 } })
        let changes = EventRecorder<CircuitBreaker.State>()
        let observation = Task { for await change in breaker.changes { changes.record(change.state) } }
        defer { observation.cancel() }
        let isDown = Mutex(true)
        try await withMockServer(handler: { _ in
            isDown.withLock { $0 } ? .status(.serviceUnavailable) : .text("ok")
        }) { server in
            let session = try HTTPSession(baseURL: server.url("/")) { $0.circuitBreaker = breaker }
            func code() async -> SessionError.Code? {
                do throws(SessionError) {
                    _ = try await session.get("x").data()
                    return nil
                } catch {
                    return error.code
                }
            }
            for _ in 0..<3 { #expect(await code() == .unacceptableStatus) }
            for _ in 0..<5 { #expect(await code() == .circuitOpen) }
            #expect(server.recordedRequests.count == 3)
            #expect(try breaker.state(of: server.url("/y")) == .open)
            time.withLock { $0 = .seconds(5) }
            #expect(await code() == .unacceptableStatus)
            #expect(await code() == .circuitOpen)
            isDown.withLock { $0 = false }
            time.withLock { $0 = .seconds(10) }
            #expect(await code() == nil)
            #expect(await code() == nil)
            #expect(server.recordedRequests.count == 6)
            try await changes.wait(count: 5)
            #expect(changes.events == [.open, .halfOpen, .open, .halfOpen, .closed])
            await session.shutdown(.immediate)
        }
    }

    /// A timer around the request ends it, since the transport does not.
    @Test func aTimeoutOfTheWholeRequestIsAFailure() async throws {
        let breaker = CircuitBreaker { $0.minimumRequests = 2 }
        let bodies = (0..<3).map { _ in StubTransport.Body() }
        let session = try makeClient(StubTransport { .stream(bodies[$0.index]) }) { $0.circuitBreaker = breaker }
        for _ in 0..<2 {
            let error = await #expect(throws: SessionError.self) {
                try await session.get("x").timeout(.milliseconds(10)).data()
            }
            #expect(error?.timeout == .request)
        }
        let error = await #expect(throws: SessionError.self) {
            try await session.get("x").timeout(.milliseconds(10)).data()
        }
        #expect(error?.code == .circuitOpen)
    }

    @Test func theCacheAnswersWhileTheCircuitIsOpen() async throws {
        let breaker = CircuitBreaker { $0.minimumRequests = 1 }
        try await withMockServer(handler: { request in
            request.path == "/stored"
                ? MockResponse(status: .ok, headerFields: [.cacheControl: "max-age=1000"], body: .text("stored"))
                : .status(.serviceUnavailable)
        }) { server in
            let session = try HTTPSession(baseURL: server.url("/")) {
                $0.circuitBreaker = breaker
                $0.cacheStore = MemoryCacheStore()
            }
            #expect(try await session.get("stored").text() == "stored")
            _ = await #expect(throws: SessionError.self) { try await session.get("x").data() }
            #expect(try breaker.state(of: server.url("/")) == .open)
            #expect(try await session.get("stored").text() == "stored")
            #expect(server.recordedRequests.count == 2)
            await session.shutdown(.immediate)
        }
    }
}
