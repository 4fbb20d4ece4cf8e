internal import FoundationEssentials
internal import LinnetCache
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// Takes a request, and returns its response or throws. Every surface of a session calls only this.
///
/// A request passes the interceptors of the call and of the session, and then the links of the ``Chain``. The engine
/// performs the links' decisions, and enforces the deadline for all of them.
final class Engine: Sendable {
    let chain: Chain
    let interceptors: [any Interceptor]
    let transportLink: TransportLink
    let running = RunningRequests()
    /// Watches the network; nil in a session without a monitor.
    let network: NetworkWatch?
    let retriers: [any RequestRetrier]
    let retryPolicy: RetryPolicy
    private let instruments: [any Instrument]
    private let redaction: Redaction
    let hedging: HedgingPolicy?
    let clock: any Clock<Duration>
    let timeouts: TransportTimeouts
    let maximumBodySize: Int

    /// Whether user code runs outside of the links' steps while a request is sent or a body is read: interceptors, a
    /// transport, a store.
    private let isExtended: Bool
    /// Whether the chain has a link that reads the record of a request.
    private let needsRecords: Bool

    /// - Parameter baseURL: The session's base URL.
    init(_ configuration: HTTPSession.Configuration, transport: any Transport, baseURL: URL? = nil) {
        let network = configuration.network.map { NetworkWatch($0, discarding: transport) }
        self.network = network
        chain = Chain(configuration, transport, network)
        interceptors = configuration.interceptors
        transportLink = TransportLink(
            transport: transport, permission: NetworkPermission(network),
            streamsCodedResponses: chain.coding?.readsBodies ?? false,
            baseOrigin: baseURL.flatMap { KnownOrigin($0) })
        isExtended =
            !transport.enforcesRequestTimeout || !configuration.interceptors.isEmpty || chain.cache?.mayTakeTime == true
        needsRecords =
            configuration.logger != nil || !configuration.requestAdapters.isEmpty || !configuration.retriers.isEmpty
        retriers = configuration.retriers
        retryPolicy = configuration.retryPolicy
        instruments = configuration.instruments
        redaction = configuration.redaction
        hedging = configuration.hedging
        clock = configuration.clock
        timeouts = configuration.timeouts
        maximumBodySize = configuration.maximumBodySize
    }

    // A flight goes down by reference: a copy would retain everything that takes part in a request, and stay in the
    // frame of a request that waits.

    /// Sends a request through the chain.
    ///
    /// The response's body is whole when the delivery says so and no interceptor streams; a caller that needs it whole
    /// collects it.
    func run(_ flight: Flight) async throws(SessionError) -> StreamedResponse {
        var flight = flight
        let isPart = flight.isPart
        try begin(&flight)
        defer { if !isPart { running.end() } }
        // A part is within the timer of its whole.
        guard flight.isTimed, !isPart, let deadline = flight.deadline else { return try await send(&flight) }
        let timed = flight
        return try await ending(by: deadline, timed.request.url) { () async throws(SessionError) in
            var flight = timed
            return try await self.send(&flight, hooksUntil: deadline)
        }
    }

    /// Sends a request, and returns its response with the body in memory.
    func runWhole(_ flight: inout Flight) async throws(SessionError) -> (StreamedResponse, Data) {
        let isPart = flight.isPart
        try begin(&flight)
        defer { if !isPart { running.end() } }
        // A transfer that can be suspended is streamed; a short body arrives in one piece all the same.
        if flight.control == nil { flight.delivery = .whole(upTo: maximumBodySize) }
        guard flight.isTimed, let deadline = flight.deadline else { return try await sendWhole(&flight) }
        return try await sendWhole(flight, by: deadline)
    }

    @inline(never)
    private func sendWhole(_ flight: Flight, by deadline: Tick) async throws(SessionError) -> (StreamedResponse, Data) {
        try await ending(by: deadline, flight.request.url) { () async throws(SessionError) in
            var flight = flight
            return try await self.sendWhole(&flight)
        }
    }

    /// Runs an operation that sends a request and reads its response, as one request with one deadline.
    ///
    /// - Parameter keepsLateValue: Whether a value after the deadline counts, because a file was moved.
    func whole<Value: Sendable>(
        _ flight: consuming Flight, keepsLateValue: Bool = false,
        _ operation: @escaping @Sendable (Flight) async throws(SessionError) -> Value
    ) async throws(SessionError) -> Value {
        let isPart = flight.isPart
        try begin(&flight)
        defer { if !isPart { running.end() } }
        flight.isPart = true
        // One timer for all parts and the time between them.
        flight.isTimed = true
        guard let deadline = flight.deadline else { return try await operation(flight) }
        let timed = flight
        return try await ending(by: deadline, timed.request.url, keepsLateValue: keepsLateValue) {
            () async throws(SessionError) in try await operation(timed)
        }
    }

    /// Counts the request, unless it is a part of one, and gives it what it needs to know for its whole time.
    @inline(never)
    func begin(_ flight: inout Flight) throws(SessionError) {
        guard !flight.isPart else { return }
        try running.begin(flight.request.url)
        flight.deadline = deadline(of: flight.request)
        flight.isTimed = isExtended || flight.hooks != nil || flight.additions?.value.interceptors.isEmpty == false
        if needsRecords || flight.additions != nil { flight.record = Flight.Record(id: flight.taskID ?? TaskID.next()) }
        if !instruments.isEmpty {
            flight.instruments = FlightInstruments(
                instruments, redaction, taskID: flight.taskID ?? flight.record?.id ?? TaskID.next())
        }
    }

    /// - Parameter deadline: For the hooks of a body that the caller reads; nil if what reads it ends at the deadline.
    private func send(
        _ flight: inout Flight, hooksUntil deadline: Tick? = nil
    ) async throws(SessionError) -> StreamedResponse {
        guard let hooks = flight.hooks else { return try await proceed(&flight) }
        return try await run(&flight, hooks, until: deadline)
    }

    private func sendWhole(_ flight: inout Flight) async throws(SessionError) -> (StreamedResponse, Data) {
        let response = try await send(&flight)
        guard flight.control == nil else { return (response, try await readWhole(response, of: &flight)) }
        guard let whole = response.body.whole, whole.count <= maximumBodySize else {
            return (response, try await collect(response))
        }
        return (response, whole)
    }

    /// Reads the body of a transfer that can be suspended.
    ///
    /// Not inlined: its copies of the flight would be part of the frame of a request that waits.
    @inline(never)
    private func readWhole(_ response: StreamedResponse, of flight: inout Flight) async throws(SessionError) -> Data {
        guard let whole = takeWhole(response, of: flight) else { return try await collect(response, of: flight) }
        // The observer that has just heard of the body may have suspended the handle.
        if flight.control?.isSuspended == true { try await waitWhileSuspended(flight, response.url) }
        return whole
    }

    @inline(never)
    func collect(_ response: StreamedResponse) async throws(SessionError) -> Data {
        do {
            return try await response.body.collect(upTo: maximumBodySize)
        } catch {
            throw error.adding(response)
        }
    }

    /// Sends a request through the interceptors, the call's before the session's, and then through the links.
    func proceed(_ flight: inout Flight, through index: Int = 0) async throws(SessionError) -> StreamedResponse {
        guard let interceptor = interceptor(at: index, of: flight) else { return try await walk(&flight) }
        return try await call(interceptor, &flight, at: index)
    }

    /// Takes a flight through the links, and performs what they decide.
    ///
    /// - Parameter top: The first link, which is also the last one on the way up.
    @inline(never)
    func walk(_ flight: inout Flight, from top: Int = 0) async throws(SessionError) -> StreamedResponse {
        // Chosen once: indices refer to one list, and a redirect can drop the body on the way.
        let links = top == 0 && flight.isPlain ? chain.plainLinks : chain.links
        var walk = ChainWalk(from: top)
        while true {
            let action = walk.next(in: links, &flight)
            switch action {
            case .end: return try walk.result(&flight)
            case .send:
                do {
                    // Without a timer of its own: the transport enforces the deadline, or a timer around the whole
                    // request does.
                    if let policy = hedging(of: flight) {
                        try await sendHedged(&walk, &flight, policy)
                    } else {
                        try await transportLink.send(&walk, &flight, timeouts)
                    }
                } catch {
                    walk.receive(.failure(error))
                }
            case .read, .ask, .again, .retry: await perform(action, &walk, &flight)
            }
        }
    }

    private func hedging(of flight: Flight) -> HedgingPolicy? { flight.additions?.value.hedging ?? hedging }

    /// Calls an interceptor, which may ignore that its request is cancelled.
    @inline(never)
    private func call(
        _ interceptor: any Interceptor, _ flight: inout Flight, at index: Int
    ) async throws(SessionError) -> StreamedResponse {
        let errand = Errand<StreamedResponse>()
        let next = InterceptorChain(engine: self, index: index + 1, flight: flight, errand: errand)
        let request = flight.request
        do {
            return try await errand.run { try await interceptor.intercept(request, next: next) }
        } catch {
            throw SessionError(thrown: error, url: request.url)
        }
    }

    @inline(never)
    private func interceptor(at index: Int, of flight: Flight) -> (any Interceptor)? {
        let own = flight.additions?.value.interceptors ?? []
        let index = index - own.count
        if index < 0 { return own[index + own.count] }
        return index < interceptors.count ? interceptors[index] : nil
    }

    /// Fails every request that begins after this call.
    func end(_ mode: ShutdownMode) {
        running.refuse(mode)
        network?.end()
    }

    /// The time when a request must have ended; nil without a limit, or with a limit of a hundred years or more,
    /// because a cancelled timer keeps its memory until it is due.
    func deadline(of request: SessionRequest) -> Tick? {
        guard let limit = request.options.timeout ?? timeouts.request, limit < .longestWait else { return nil }
        return .after(limit)
    }
}

extension Engine {
    /// Sends a request, and returns its response read by a serializer: the way of calls and of handles whose response
    /// is read into memory.
    func answer<S: ResponseSerializer>(
        _ flight: inout Flight, _ serializer: S
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        guard mayAnswerAgain(&flight) else { return try await answerOnce(&flight, serializer) }
        return try await answerRetrying(&flight, serializer)
    }

    /// Whether a failure to read the response can lead to another attempt.
    func retriesReading(of flight: Flight, readsLate: Bool) -> Bool {
        if flight.hasRetriers(before: retriers) { return true }
        return readsLate
            && (flight.retryPolicy(else: retryPolicy).limit > 0 || flight.hooks?.isSeen(\.willRetry) == true)
    }

    // These are not inlined, so that the frame of a request that waits has nothing of what happens around it. The
    // flight is `inout`, since the frame would have a copy of a borrowed one.

    @inline(never)
    private func mayAnswerAgain(_ flight: inout Flight) -> Bool {
        retriesReading(of: flight, readsLate: flight.readsLate)
    }

    @inline(never)
    private func answerRetrying<S: ResponseSerializer>(
        _ flight: inout Flight, _ serializer: S
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        try await retrying(flight, readsLate: flight.readsLate) { flight async throws(SessionError) in
            var flight = flight
            return try await answerOnce(&flight, serializer)
        }
    }

    @inline(never)
    private func answerOnce<S: ResponseSerializer>(
        _ flight: inout Flight, _ serializer: S
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        let (response, body) = try await runWhole(&flight)
        return try response.read(body, answering: flight.request.method, by: serializer)
    }
}

extension Flight {
    /// Whether the body is read after the response has left the links: a transfer that can be suspended is streamed,
    /// and a hook on responses is asked before the body is read.
    fileprivate var readsLate: Bool { control != nil || hooks?.readsResponses == true }
}
