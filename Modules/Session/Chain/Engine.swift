internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// Takes a request, and returns its response or throws. Every surface of a session calls this and nothing else.
///
/// The chain, top-down: the user's interceptors -> (retry -> redirects -> cookies -> cache -> authentication, each an
/// ``Interceptor`` that joins `links` here) -> ``TransportLink``.
final class Engine: Sendable {
    private let links: [any Interceptor]
    private let transportLink: TransportLink
    private let headerFields: HTTPFields
    private let hasEnded = Atomic(false)

    let timeouts: TransportTimeouts
    let maximumBodySize: Int

    init(_ configuration: Session.Configuration, transport: any Transport) {
        links = configuration.interceptors
        transportLink = TransportLink(transport: transport)
        headerFields = configuration.headerFields
        timeouts = configuration.timeouts
        maximumBodySize = configuration.maximumBodySize
    }

    /// Sends a request through the chain.
    ///
    /// The response's body is whole when `delivery` says so and no interceptor streams; whoever needs it whole collects.
    func run(
        _ request: Request, delivery: ResponseDelivery, sink: (any EngineSink)? = nil
    ) async throws(SessionError) -> EngineResponse {
        guard !hasEnded.load(ordering: .relaxed) else { throw .shutDown(request.url) }
        var request = request
        request.headerFields.addDefaults(headerFields)
        let exchange = Exchange(delivery: delivery, sink: sink, deadline: deadline(of: request))
        return try await proceed(request, from: 0, exchange)
    }

    /// Sends a request, and returns its response with the body in memory.
    func runWhole(_ request: Request) async throws(SessionError) -> (EngineResponse, Data) {
        let response = try await run(request, delivery: .whole(upTo: maximumBodySize))
        if let whole = response.body.whole, whole.count <= maximumBodySize { return (response, whole) }
        do {
            return (response, try await response.body.collect(upTo: maximumBodySize))
        } catch {
            throw error.adding(response)
        }
    }

    /// The chain from a link on.
    func proceed(
        _ request: Request, from index: Int, _ exchange: Exchange
    ) async throws(SessionError) -> EngineResponse {
        guard index < links.count else {
            return try await transportLink.send(request, exchange, timeouts: timeouts)
        }
        do {
            return try await links[index].intercept(
                request, next: Next(engine: self, index: index + 1, exchange: exchange))
        } catch {
            throw SessionError(thrown: error, url: request.url)
        }
    }

    /// From now on every request fails.
    func end() {
        hasEnded.store(true, ordering: .relaxed)
    }

    private func deadline(of request: Request) -> ContinuousClock.Instant? {
        guard let limit = request.options.timeout ?? timeouts.request else { return nil }
        return .now + limit
    }
}
