import FoundationEssentials
import LinnetReachability
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

/// Requests that wait for the network, and connections that do not outlive it.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct ConnectivityTests {
    // MARK: Waiting

    @Test(arguments: Surface.allCases)
    func aRequestWaitsForTheNetworkAndIsThenSent(surface: Surface) async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client { $0.waitsForConnectivity = true }
        async let outcome = surface.send("a", with: client)
        try await network.waits.wait(count: 1)
        network.become(.ethernet)
        #expect(try await outcome.get().value == 1)
        #expect(network.sends == 2)
        #expect(network.waits.events.count == 1)
        await client.shutdown()
    }

    @Test func aNetworkThatIsLostBeforeTheMonitorReportsItIsAwaited() async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client { $0.waitsForConnectivity = true }
        async let outcome = Surface.async.send("a", with: client)
        try await network.waits.wait(count: 1)
        // The monitor reports the network, which has gone again: the request is not sent.
        network.report(.ethernet)
        network.report(.notReachable)
        network.become(.ethernet)
        #expect(try await outcome.get().value == 1)
        #expect(network.sends == 2)
        await client.shutdown()
    }

    /// The clock of the limit, and without a limit that of the pause after a network that has gone.
    @Test(arguments: [nil, .seconds(60)] as [Duration?])
    func aClockThatIgnoresItsCancellationIsNotWaitedFor(limit: Duration?) async throws {
        let (code, network) = (StubbornCode(), TestNetwork(.notReachable))
        let client = try network.client {
            $0.waitsForConnectivity = true
            $0.connectivityTimeout = limit
            $0.clock = StubbornClock(code: code)
        }
        let caller = Task { await Surface.async.send("a", with: client).error?.code }
        try await network.waits.wait(count: 1)
        if limit == nil { network.report(.ethernet) }
        await code.hasEntered.wait()
        caller.cancel()
        #expect(await caller.value == .cancelled)
        #expect(!code.hasLeft.hasFired)
        await code.end()
        await client.shutdown()
    }

    @Test(arguments: [nil, false] as [Bool?])
    func aRequestThatDoesNotWaitFailsAtOnce(choice: Bool?) async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client { $0.waitsForConnectivity = choice != nil }
        let options = RequestOptions { $0.waitsForConnectivity = choice }
        let error = await Surface.async.send("a", options: options, with: client).error
        #expect(error?.code == .connectionFailed)
        #expect(network.sends == 1)
        await client.shutdown()
    }

    @Test func aServerThatIsDownIsNotAwaited() async throws {
        let network = TestNetwork(.ethernet, serves: false)
        let client = try network.client { $0.waitsForConnectivity = true }
        #expect(await Surface.async.send("a", with: client).error?.code == .connectionFailed)
        #expect(network.sends == 1)
        await client.shutdown()
    }

    @Test func aHostThatAnswersWithoutADefaultRouteIsNotAwaited() async throws {
        let network = TestNetwork(.notReachable, serves: true)
        let client = try network.client { $0.waitsForConnectivity = true }
        #expect(try await Surface.async.send("a", with: client).get().value == 1)
        await client.shutdown()
    }

    @Test func theStatusIsKnownAfterTheMonitorHasStoppedAndStarted() async throws {
        let network = TestNetwork(.ethernet)
        let client = try network.client()
        network.stop()
        network.become(.cellular)
        let options = RequestOptions { $0.allowsExpensiveNetworks = false }
        #expect(await Surface.async.send("a", options: options, with: client).error?.code == .networkNotAllowed)
        #expect(network.sends == 0)
        await client.shutdown()
    }

    @Test func aRequestThatMayUseNoExpensiveNetworkWaitsForAnother() async throws {
        let network = TestNetwork(.cellular)
        let client = try network.client()
        let options = RequestOptions {
            $0.waitsForConnectivity = true
            $0.allowsExpensiveNetworks = false
        }
        async let outcome = Surface.async.send("a", options: options, with: client)
        try await network.waits.wait(count: 1)
        #expect(network.sends == 0)
        network.become(.ethernet)
        #expect(try await outcome.get().value == 1)
        await client.shutdown()
    }

    @Test func aRequestWhoseConnectionWasLostIsSentAgainWhenTheNetworkIsBack() async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client {
            $0.waitsForConnectivity = true
            $0.retryPolicy = .limited(to: 1)
            $0.retryPolicy.backoff.first = .zero
        }
        network.fault = .connectionClosed
        async let outcome = Surface.async.send("a", with: client)
        try await network.waits.wait(count: 1)
        network.become(.ethernet)
        #expect(try await outcome.get().value == 1)
        #expect(network.sends == 3)
        await client.shutdown()
    }

    /// The second request gets the only place while the first one waits for the network.
    @Test func aRequestThatWaitsForTheNetworkHasNoPlaceAtItsOrigin() async throws {
        let network = TestNetwork(.notReachable)
        let limiter = ConcurrencyLimiter {
            $0.initialLimit = 1
            $0.maximumLimit = 1
        }
        let client = try network.client {
            $0.waitsForConnectivity = true
            $0.concurrencyLimiter = limiter
        }
        async let first = Surface.async.send("a", with: client)
        try await network.waits.wait(count: 1)
        async let second = Surface.async.send("a", with: client)
        try await network.waits.wait(count: 2)
        #expect(limiter.waitingRequests(for: try makeRequest().url) == 0)
        network.become(.ethernet)
        #expect(try await first.get().value == 1)
        #expect(try await second.get().value == 1)
        await client.shutdown()
    }

    /// The lack of a network shows no overload and no failure of the origin.
    @Test func aWaitForTheNetworkIsNoFailureOfTheOrigin() async throws {
        let network = TestNetwork(.notReachable)
        let limiter = ConcurrencyLimiter { $0.initialLimit = 8 }
        let breaker = CircuitBreaker { $0.minimumRequests = 1 }
        let client = try network.client {
            $0.waitsForConnectivity = true
            $0.concurrencyLimiter = limiter
            $0.circuitBreaker = breaker
        }
        let url = try makeRequest().url
        async let outcome = Surface.async.send("a", with: client)
        try await network.waits.wait(count: 1)
        #expect(breaker.state(of: url) == .closed && limiter.limit(of: url) == 8)
        network.become(.ethernet)
        #expect(try await outcome.get().value == 1)
        await client.shutdown()
        // A request that does not wait has that outcome.
        let other = TestNetwork(.notReachable)
        let impatient = try other.client {
            $0.circuitBreaker = breaker
            $0.concurrencyLimiter = limiter
        }
        _ = await Surface.async.send("a", with: impatient)
        #expect(breaker.state(of: url) == .open && limiter.limit(of: url) == 6)
        await impatient.shutdown()
    }

    /// The probe of a circuit that is half open waits for the network, and the next request becomes the probe.
    @Test func aProbeThatWaitsForTheNetworkIsGivenBack() async throws {
        let time = Mutex(Duration.zero)
        let breaker = CircuitBreaker({ ($0.minimumRequests, $0.openDuration) = (1, .seconds(5)) }) {
            time.withLock { $0 }
        }
        let network = TestNetwork(.notReachable)
        let client = try network.client {
            $0.waitsForConnectivity = true
            $0.circuitBreaker = breaker
        }
        network.fault = .connectionClosed
        #expect(await Surface.async.send("a", with: client).error?.code == .connectionLost)
        #expect(breaker.state(of: try makeRequest().url) == .open)
        time.withLock { $0 = .seconds(6) }
        let first = Task { await Surface.async.send("a", with: client) }
        try await network.waits.wait(count: 1)
        let second = Task { await Surface.async.send("a", with: client) }
        try await network.waits.wait(count: 2)
        #expect(network.sends == 3)
        for task in [first, second] {
            task.cancel()
            #expect(await task.value.error?.code == .cancelled)
        }
        await client.shutdown()
    }

    // MARK: The end of a wait

    @Test func theLimitEndsAWaitWithTheErrorBeforeIt() async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client {
            $0.waitsForConnectivity = true
            $0.connectivityTimeout = .milliseconds(20)
        }
        #expect(await Surface.async.send("a", with: client).error?.code == .connectionFailed)
        #expect(try await network.waits.wait(count: 1).count == 1)
        await client.shutdown()
    }

    @Test func theTimeoutOfTheWholeRequestEndsAWait() async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client()
        let options = RequestOptions {
            $0.waitsForConnectivity = true
            $0.timeout = .milliseconds(20)
        }
        let error = await Surface.async.send("a", options: options, with: client).error
        #expect(error?.code == .timeout)
        #expect(error?.timeout == .request)
        await client.shutdown()
    }

    @Test func cancellationEndsAWait() async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client { $0.waitsForConnectivity = true }
        let task = Task { await Surface.async.send("a", with: client) }
        try await network.waits.wait(count: 1)
        task.cancel()
        #expect(await task.value.error?.code == .cancelled)
        await client.shutdown()
    }

    @Test(arguments: [ShutdownMode.graceful, .immediate])
    func theEndOfTheSessionEndsAWait(mode: ShutdownMode) async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client { $0.waitsForConnectivity = true }
        let task = Task { await Surface.async.send("a", with: client) }
        try await network.waits.wait(count: 1)
        await client.shutdown(mode)
        #expect(await task.value.error?.code == .shutDown)
    }

    @Test func aMonitorThatStopsEndsWaitsWithTheErrorBeforeThem() async throws {
        let network = TestNetwork(.notReachable)
        let client = try network.client { $0.waitsForConnectivity = true }
        let task = Task { await Surface.async.send("a", with: client) }
        try await network.waits.wait(count: 1)
        network.stop()
        #expect(await task.value.error?.code == .connectionFailed)
        #expect(await Surface.async.send("a", with: client).error?.code == .connectionFailed)
        await client.shutdown()
    }

    // MARK: Configuration

    @Test func waitingNeedsAMonitor() async throws {
        let error = #expect(throws: SessionError.self) { try HTTPSession { $0.waitsForConnectivity = true } }
        #expect(error?.code == .invalidConfiguration)
        let transport = StubTransport()
        let client = try makeClient(transport)
        let options = RequestOptions { $0.waitsForConnectivity = true }
        #expect(await Surface.async.send("a", options: options, with: client).error?.code == .invalidConfiguration)
        #expect(transport.requests.isEmpty)
        await client.shutdown()
    }

    // MARK: Connections

    @Test func aChangeOfTheNetworkClosesIdleConnections() async throws {
        try await withMockServer(.json("1")) { server in
            let network = TestNetwork(.ethernet)
            let client = try HTTPSession(baseURL: server.url) { $0.network = network.source }
            for _ in 0..<2 { _ = try await client.get("a").response() }
            #expect(server.acceptedConnections == 1)
            network.become(.cellular)
            while server.openConnections > 0, !Task.isCancelled { await Task.yield() }
            _ = try await client.get("a").response()
            #expect(server.acceptedConnections == 2)
            await client.shutdown()
        }
    }
}

/// A network that a test controls, and a server that answers while it is there.
private final class TestNetwork: Sendable {
    private struct State {
        var current: ReachabilityStatus
        var reported: ReachabilityStatus
        var serves: Bool?
        var fault: TransportError.Code?
        var sends = 0

        mutating func send() throws(TransportError) -> StubTransport.Response {
            sends += 1
            if let fault {
                self.fault = nil
                throw TransportError(fault, "The connection was lost.")
            }
            guard serves ?? current.isReachable else {
                throw TransportError(.connectionFailed, "The network is unreachable.")
            }
            return .json("1")
        }
    }

    private let state: Mutex<State>
    private let statuses: AsyncStream<ReachabilityStatus>
    private let continuation: AsyncStream<ReachabilityStatus>.Continuation
    /// One event for each request that begins to wait.
    let waits = EventRecorder<UInt64>()

    init(_ status: ReachabilityStatus, serves: Bool? = nil) {
        state = Mutex(State(current: status, reported: status, serves: serves))
        (statuses, continuation) = AsyncStream.makeStream()
        continuation.yield(status)
    }

    var source: NetworkSource {
        NetworkSource(
            current: { [self] in state.withLock { $0.current } },
            reported: { [self] in state.withLock { $0.reported } },
            statuses: { [statuses] in statuses })
    }

    var sends: Int { state.withLock { $0.sends } }

    /// The error of the next request.
    var fault: TransportError.Code? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    func client(_ configure: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> HTTPSession {
        let transport = StubTransport { [self] _ in try state.withLock { state in try state.send() } }
        return try makeClient(transport) {
            $0.network = source
            $0.hooks.isWaitingForConnectivity = { [waits] in waits.record($0.taskID) }
            configure(&$0)
        }
    }

    /// Changes the network, which the monitor reports.
    func become(_ status: ReachabilityStatus) {
        state.withLock { $0.current = status }
        report(status)
    }

    /// Reports a network that is not there.
    func report(_ status: ReachabilityStatus) {
        state.withLock { $0.reported = status }
        continuation.yield(status)
    }

    func stop() { continuation.finish() }
}

extension ReachabilityStatus {
    fileprivate static let ethernet = reachable(
        via: .ethernet, interfaceName: "x0", supportsIPv4: true, supportsIPv6: false)
    fileprivate static let cellular = reachable(
        via: .cellular, interfaceName: "x1", supportsIPv4: true, supportsIPv6: false)
}
