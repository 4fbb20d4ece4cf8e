import HTTPTypes
import LinnetMessages
import LinnetSecurity
import NIOCore
import NIOEmbedded
import Synchronization

@testable import LinnetTransport

/// A connection pool without sockets, in the time of an embedded event loop.
///
/// Everything runs on the thread of the test: requests in tasks of a ``ManualExecutor``, connections on the event loop.
/// A test opens and closes connections by hand, and ``settle()`` performs the consequences.
final class PoolBench {
    /// A request for a place on a connection.
    struct Request {
        let id: Int
        let origin: Origin
        let start: NIODeadline
        let poolWait: Duration?
        let task: Task<Void, Never>
    }

    typealias Outcome = Result<HTTPConnection, TransportError>

    let loop: EmbeddedEventLoop
    let opener: FakeOpener
    let pool: ConnectionPool
    private let executor = ManualExecutor()
    private let outcomes = Outcomes()
    private var requests = 0

    private final class Outcomes: Sendable {
        let all = Mutex<[Int: Outcome]>([:])
    }

    /// An exchange on a leased connection.
    final class Exchange: Sendable {
        fileprivate let end = Mutex<HTTPExchange.Outcome?>(nil)

        /// The outcome; nil while the exchange runs.
        var outcome: HTTPExchange.Outcome? { end.withLock { $0 } }
    }

    /// An origin with a one-letter name is multiplexed if it is "m".
    init(_ configure: (inout TransportConfiguration) -> Void = { _ in }) {
        var configuration = TransportConfiguration()
        configure(&configuration)
        loop = EmbeddedEventLoop()
        opener = FakeOpener(configuration, loop)
        pool = ConnectionPool(connector: opener, configuration: configuration)
    }

    var now: NIODeadline { loop.now }

    static func origin(_ name: String) throws -> Origin {
        try Origin(HTTPRequest(method: .get, scheme: "https", authority: name + ".test", path: "/"))
    }

    /// Asks for a place, and waits for one in a task if there is none.
    func request(_ origin: Origin, poolWait: Duration? = .seconds(60)) -> Request {
        requests += 1
        let (id, pool, outcomes) = (requests, pool, outcomes)
        var timeouts = TransportTimeouts.default
        timeouts.poolWait = poolWait
        let given = timeouts
        let task = Task(executorPreference: executor) {
            let outcome: Outcome
            do {
                let request = PoolRequest(origin: origin, timeouts: given)
                if let open = try pool.takeOpenPlace(request) {
                    outcome = .success(open)
                } else {
                    outcome = .success(try await pool.lease(request).connection)
                }
            } catch {
                outcome = .failure(TransportError(translating: error))
            }
            outcomes.all.withLock { $0[id] = outcome }
        }
        settle()
        return Request(id: id, origin: origin, start: now, poolWait: poolWait, task: task)
    }

    /// The outcome of a request; nil while it waits.
    func outcome(_ request: Request) -> Outcome? { outcomes.all.withLock { $0[request.id] } }

    /// Starts an exchange on a leased connection.
    func start(_ request: TransportRequest, on connection: HTTPConnection) -> Exchange {
        let exchange = Exchange()
        _ = Task(executorPreference: executor) {
            let outcome = await connection.run(
                request, observer: nil, timeouts: TransportTimeouts(), deadline: nil, queuedSince: .now)
            exchange.end.withLock { $0 = outcome }
        }
        settle()
        return exchange
    }

    /// Performs everything that is due.
    func settle() {
        repeat {
            executor.run()
            loop.run()
        } while executor.hasJobs
    }

    func advance(by time: TimeAmount) {
        loop.advanceTime(by: time)
        settle()
    }

    /// Shuts the pool down, and returns whether that has ended.
    func shutDown(_ mode: ShutdownMode = .immediate) throws -> Bool {
        let (pool, hasEnded) = (pool, Flag())
        _ = Task(executorPreference: executor) {
            await pool.shutDown(mode)
            hasEnded.value.store(true, ordering: .relaxed)
        }
        settle()
        outcomes.all.withLock { $0 = [:] }
        return hasEnded.value.load(ordering: .relaxed)
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }
}

/// Runs the jobs of tasks when the test says so, on its thread.
final class ManualExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    var hasJobs: Bool { jobs.withLock { !$0.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs all jobs, including those that they enqueue.
    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// Opens connections over embedded channels, when the test says so. The server of "m" speaks HTTP/2.
final class FakeOpener: ConnectionOpener {
    /// A connection that is being opened.
    struct Attempt: Sendable {
        let id: UInt64
        let key: PoolKey
        fileprivate let channel: EmbeddedChannel
        fileprivate let promise: EventLoopPromise<HTTPConnection>
        fileprivate let make: @Sendable (HTTPConnection.Wire, _ capacity: Int) -> HTTPConnection
    }

    /// An opened connection.
    struct Opened: Sendable {
        let connection: HTTPConnection
        let channel: EmbeddedChannel
    }

    /// The exchanges that a multiplexed connection runs at a time, at first.
    static let capacity = 3

    private let configuration: TransportConfiguration
    private let loop: EmbeddedEventLoop
    private let pending = Mutex<[Attempt]>([])

    init(_ configuration: TransportConfiguration, _ loop: EmbeddedEventLoop) {
        (self.configuration, self.loop) = (configuration, loop)
    }

    /// The connections that are being opened.
    var attempts: [Attempt] { pending.withLock { $0 } }

    /// Opens a connection; one that closes first has ended before the pool knows of it. Its server may also set its
    /// capacity before that.
    func succeed(_ attempt: Attempt, closesFirst: Bool = false, settingFirst capacity: Int? = nil) throws -> Opened {
        remove(attempt)
        let channel = attempt.channel
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 443), promise: nil)
        let connection: HTTPConnection
        if attempt.key.origin.host == "m.test" {
            let budget = HTTP2WindowBudget(limit: configuration.http2.connectionWindowSize)
            let handler = HTTP2Connection(configuration, windows: budget)
            try channel.pipeline.syncOperations.addHandler(handler)
            connection = attempt.make(.http2(NIOLoopBound(handler, eventLoop: loop)), Self.capacity)
            handler.adopt(connection)
            channel.closeFuture.assumeIsolated().whenComplete { _ in handler.connectionEnded() }
        } else {
            let handler = HTTP1Handler(
                limits: configuration.limits, continueTimeout: configuration.continueTimeout)
            try channel.pipeline.syncOperations.addHandler(handler)
            connection = attempt.make(.http1(NIOLoopBound(handler, eventLoop: loop)), 1)
            handler.adopt(connection)
            channel.closeFuture.assumeIsolated().whenComplete { _ in handler.connectionEnded() }
        }
        if let capacity { connection.capacityChanged(capacity) }
        if closesFirst {
            channel.close(promise: nil)
            loop.run()
        }
        attempt.promise.succeed(connection)
        return Opened(connection: connection, channel: channel)
    }

    /// Fails to open a connection.
    func fail(_ attempt: Attempt, _ error: TransportError) {
        remove(attempt)
        attempt.promise.fail(error)
        attempt.channel.close(promise: nil)
    }

    private func remove(_ attempt: Attempt) {
        pending.withLock { $0.removeAll { $0.id == attempt.id } }
    }

    // MARK: ConnectionOpener

    var eventLoop: any EventLoop { loop }
    var eventLoops: [any EventLoop] { [loop] }

    func multiplexing(_ origin: Origin) -> PoolStateMachine<PoolKey>.Multiplexing {
        origin.host == "m.test" ? .possible : .never
    }

    func connect(
        _ series: ConnectSeries, id: UInt64, on shard: PoolShard, terms: ConnectionTerms, attempt: ConnectAttempt,
        pool: ConnectionPool
    ) -> EventLoopFuture<HTTPConnection> {
        let channel = EmbeddedChannel(loop: loop)
        let promise = loop.makePromise(of: HTTPConnection.self)
        let maximumAge = configuration.pool.maximumAge
        let opened = Attempt(id: id, key: series.key, channel: channel, promise: promise) { wire, capacity in
            HTTPConnection(
                id: id, key: series.key, pool: pool, shard: shard, terms: terms, channel: channel, wire: wire,
                capacity: capacity, opening: TransportMetrics(), maximumAge: maximumAge)
        }
        pending.withLock { $0.append(opened) }
        attempt.adopt(channel)
        channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in
            guard let self, self.attempts.contains(where: { $0.id == id }) else { return }
            self.fail(opened, TransportError(.connectionFailed, "The attempt was aborted."))
        }
        return promise.futureResult
    }

    func require(_ identities: ClientIdentityPolicy) throws(TransportError) {}
    func clearResolvedNames() {}
    func forgetTLSSessions() {}
    func rememberStreamLimit(_ limit: Int, of origin: Origin) {}
    func requiresHTTP1(_ origin: Origin) -> Bool { false }
}
