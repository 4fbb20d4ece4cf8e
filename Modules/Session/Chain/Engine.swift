internal import FoundationEssentials
internal import LinnetCache
internal import LinnetSerialization
internal import LinnetTransport

/// Takes a request, and returns its response or throws. Every surface of a session calls this and nothing else.
///
/// The chain, top-down, is in ``Link/linksAboveCoding(_:_:)`` and ``Link/linksBelowCoding(_:_:_:)``, between which ``ContentCodingRules`` apply; below its last link is the ``TransportLink``.
final class Engine: Sendable {
    let links: [Link]
    /// The number of links above the place where content codings are undone.
    let codingPlace: Int
    /// Nil in a session without content codings.
    let coding: ContentCodingRules?
    let transportLink: TransportLink
    let running = RunningRequests()
    /// Whether there is code of the user's in the chain, or below it, that does not know of the deadline.
    private let isExtended: Bool

    /// The validations that the cache runs in the background; nil without a cache.
    let refreshes: CacheRefreshes?

    /// The requests that others wait for; nil unless equal requests are collapsed.
    let flights: CacheFlights?

    /// Follows the network; nil in a session without a monitor.
    let network: NetworkWatch?

    /// Whether the chain has a link that reads the record of a request.
    private let needsRecords: Bool
    let retriers: [any RequestRetrier]
    let clock: any Clock<Duration>
    let timeouts: TransportTimeouts
    let maximumBodySize: Int

    /// - Parameter baseURL: The session's.
    init(_ configuration: HTTPSession.Configuration, transport: any Transport, baseURL: URL? = nil) {
        let network = configuration.network.map { NetworkWatch($0, discarding: transport) }
        self.network = network
        let upper = Link.linksAboveCoding(configuration, transport)
        links = upper + Link.linksBelowCoding(configuration, transport, network)
        codingPlace = upper.count
        coding = ContentCodingRules(configuration)
        isExtended =
            !transport.enforcesRequestTimeout || !configuration.interceptors.isEmpty
            || !configuration.requestAdapters.isEmpty
            || !configuration.retriers.isEmpty || configuration.waitsForConnectivity
            || configuration.cacheStore.map { !($0 is MemoryCacheStore) || configuration.collapsesEqualRequests }
                ?? false
        let cache = links.lazy.compactMap { $0.interceptor as? CacheInterceptor }.first
        refreshes = cache?.refreshes
        flights = cache?.flights
        transportLink = TransportLink(
            transport: transport, permission: NetworkPermission(network),
            // Requests that wait for another one need its response stored when it returns.
            streamsCodedResponses: coding != nil && flights == nil,
            baseOrigin: baseURL.flatMap { KnownOrigin($0) })
        needsRecords =
            configuration.logger != nil || !configuration.requestAdapters.isEmpty || !configuration.retriers.isEmpty
        retriers = configuration.retriers
        clock = configuration.clock
        timeouts = configuration.timeouts
        maximumBodySize = configuration.maximumBodySize
    }

    /// Sends a request through the chain.
    ///
    /// The response's body is whole when `delivery` says so and no interceptor streams; a caller that needs it whole collects
    /// it.
    ///
    /// - Parameter course: What the request shares with the one that it is a part of, which has begun and keeps its deadline.
    func run(
        _ request: SessionRequest, delivery: ResponseDelivery, in call: CallContext, course: Course? = nil
    ) async throws(SessionError) -> StreamedResponse {
        if course == nil { try running.begin(request.url) }
        defer { if course == nil { running.end() } }
        let exchange = exchange(request, delivery, in: call, course)
        guard course == nil, let deadline = timer(request, exchange) else {
            return try await send(request, exchange)
        }
        return try await ending(by: deadline, request.url) { () async throws(SessionError) in
            try await self.send(request, exchange, hooksUntil: deadline)
        }
    }

    /// Sends a request, and returns its response with the body in memory.
    func runWhole(
        _ request: SessionRequest, in call: CallContext, course: Course? = nil
    ) async throws(SessionError) -> (StreamedResponse, Data) {
        if course == nil { try running.begin(request.url) }
        defer { if course == nil { running.end() } }
        let exchange = exchange(request, .whole(upTo: maximumBodySize), in: call, course)
        guard let deadline = timer(request, exchange) else { return try await sendWhole(request, exchange) }
        return try await sendWhole(request, exchange, by: deadline)
    }

    @inline(never)
    private func sendWhole(
        _ request: SessionRequest, _ exchange: Exchange, by deadline: Tick
    ) async throws(SessionError) -> (StreamedResponse, Data) {
        try await ending(by: deadline, request.url) { () async throws(SessionError) in
            try await self.sendWhole(request, exchange)
        }
    }

    /// Runs an operation that sends a request and reads its response, as one request with one deadline.
    @inline(never)
    func whole<Value: Sendable>(
        _ request: SessionRequest, in call: CallContext, _ course: Course?, keepsLateValue: Bool = false,
        _ operation: @escaping @Sendable (Course) async throws(SessionError) -> Value
    ) async throws(SessionError) -> Value {
        if course == nil { try running.begin(request.url) }
        defer { if course == nil { running.end() } }
        let course = course ?? Course(record: nil, deadline: deadline(of: request))
        guard let deadline = course.deadline else { return try await operation(course) }
        return try await ending(by: deadline, request.url, keepsLateValue: keepsLateValue) {
            () async throws(SessionError) in try await operation(course)
        }
    }

    // These are not inlined: their temporary values would be part of the frame of a request that waits.

    @inline(never)
    private func exchange(
        _ request: SessionRequest, _ delivery: ResponseDelivery, in call: CallContext, _ course: Course?
    ) -> Exchange {
        Exchange(
            delivery: delivery, call: call, deadline: course.map(\.deadline) ?? deadline(of: request),
            record: course?.record ?? record(call))
    }

    /// When what a request does must be cancelled, since interceptors, hooks and transports of the user's do not know of the deadline;
    /// nil if all that it passes does.
    @inline(never)
    private func timer(_ request: SessionRequest, _ exchange: Exchange) -> Tick? {
        let isKnown =
            !isExtended && exchange.call.hooks == nil && exchange.call.own == nil
            && request.options.waitsForConnectivity != true
        return isKnown ? nil : exchange.deadline
    }

    /// The request as it is sent below the place of the content codings.
    @inline(never)
    private func prepared(_ request: SessionRequest, for way: borrowing Descent) -> SessionRequest {
        way.coding?.prepared(request) ?? request
    }

    /// - Parameter deadline: For the hooks of a body that the caller reads; nil if what reads it ends at the deadline.
    private func send(
        _ request: SessionRequest, _ exchange: Exchange, hooksUntil deadline: Tick? = nil
    ) async throws(SessionError) -> StreamedResponse {
        guard let hooks = exchange.call.hooks else { return try await proceed(request, from: 0, exchange) }
        return try await run(request, exchange, hooks, until: deadline)
    }

    private func sendWhole(
        _ request: SessionRequest, _ exchange: Exchange
    ) async throws(SessionError) -> (StreamedResponse, Data) {
        let response = try await send(request, exchange)
        guard let whole = response.body.whole, whole.count <= maximumBodySize else {
            return try await collect(response)
        }
        return (response, whole)
    }

    @inline(never)
    private func collect(_ response: StreamedResponse) async throws(SessionError) -> (StreamedResponse, Data) {
        do {
            return (response, try await response.body.collect(upTo: maximumBodySize))
        } catch {
            throw error.adding(response)
        }
    }

    /// The chain from a link on.
    @inline(never)
    func proceed(
        _ request: SessionRequest, from index: Int, _ exchange: Exchange
    ) async throws(SessionError) -> StreamedResponse {
        var way = descend(request, from: index, exchange)
        let sent = prepared(request, for: way)
        var response: StreamedResponse
        do throws(SessionError) {
            response = try await deliver(sent, way, exchange)
        } catch {
            return try await finish(error, along: &way, of: request, sent: sent, in: exchange)
        }
        guard let index = ascend(&response, along: &way, of: request, sent: sent, in: exchange) else {
            return response
        }
        return try await finish(response, at: index, along: &way, of: request, sent: sent, in: exchange)
    }

    /// From now on every request fails that has not begun.
    func end(_ mode: ShutdownMode) {
        running.refuse(mode)
        network?.end()
    }

    private func record(_ call: CallContext) -> RequestRecord? {
        guard needsRecords || call.own != nil else { return nil }
        return RequestRecord(id: call.taskID ?? TaskID.next())
    }

    /// When a request must have ended; nil for one without a limit, or with one of a hundred years or more: a cancelled timer keeps its
    /// memory until its time comes.
    func deadline(of request: SessionRequest) -> Tick? {
        guard let limit = request.options.timeout ?? timeouts.request, limit < .longestWait else { return nil }
        return .after(limit)
    }
}
