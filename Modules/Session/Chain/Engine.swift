internal import FoundationEssentials
internal import LinnetCache
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

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
    private let hasEnded = Atomic(false)
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
    func run(
        _ request: SessionRequest, delivery: ResponseDelivery, in call: CallContext, decoding: Decoding? = nil
    ) async throws(SessionError) -> StreamedResponse {
        guard !hasEnded.load(ordering: .relaxed) else { throw .shutDown(request.url) }
        let exchange = Exchange(
            delivery: delivery, call: call, deadline: decoding.map(\.deadline) ?? deadline(of: request),
            record: decoding?.record ?? record(call))
        if let deadline = exchange.deadline,
            isExtended || call.hooks != nil || call.own != nil || request.options.waitsForConnectivity == true
        {
            return try await run(request, exchange, until: deadline)
        }
        guard let hooks = call.hooks else { return try await proceed(request, from: 0, exchange) }
        return try await run(request, exchange, hooks)
    }

    /// Sends a request, and cancels what it does at a deadline: interceptors, hooks and transports of the user's included.
    @inline(never)
    private func run(
        _ request: SessionRequest, _ exchange: Exchange, until deadline: Tick
    ) async throws(SessionError) -> StreamedResponse {
        try await ending(by: deadline, request.url) { () async throws(SessionError) in
            guard let hooks = exchange.call.hooks else {
                return try await self.proceed(request, from: 0, exchange)
            }
            return try await self.run(request, exchange, hooks)
        }
    }

    /// Sends a request, and returns its response with the body in memory.
    func runWhole(
        _ request: SessionRequest, in call: CallContext, decoding: Decoding? = nil
    ) async throws(SessionError) -> (StreamedResponse, Data) {
        let response = try await run(
            request, delivery: .whole(upTo: maximumBodySize), in: call, decoding: decoding)
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
    func proceed(
        _ request: SessionRequest, from index: Int, _ exchange: Exchange
    ) async throws(SessionError) -> StreamedResponse {
        var way = descend(request, from: index, exchange)
        let sent = way.coding?.prepared(request) ?? request
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

    /// From now on every request fails.
    func end() {
        hasEnded.store(true, ordering: .relaxed)
        network?.end()
    }

    private func record(_ call: CallContext) -> RequestRecord? {
        guard needsRecords || call.own != nil else { return nil }
        return RequestRecord(id: call.taskID ?? TaskID.next())
    }

    func deadline(of request: SessionRequest) -> Tick? {
        guard let limit = request.options.timeout ?? timeouts.request else { return nil }
        return .after(limit)
    }
}
