internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache
internal import LinnetCookies
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// The link that answers requests with stored responses and stores new ones (RFC 9111).
///
/// It is below cookies and authentication, since the fields that they add decide which stored response matches, and above the
/// log and the transport: a hit is not an attempt. A failure of the store never fails a request.
final class CacheInterceptor: PassiveInterceptor {
    let store: any CacheStore
    /// The store, if it is in memory and can be asked without waiting.
    private let memory: MemoryCacheStore?
    /// The time, which ages are measured by.
    let now: @Sendable () -> Date
    let rules: CacheRules
    /// Where the cookies of validations in the background are stored.
    let jar: CookieJar?
    /// The requests that others wait for; nil if none does.
    let flights: CacheFlights?
    let refreshes = CacheRefreshes()
    let invalidations = CacheInvalidations()

    init(_ configuration: HTTPSession.Configuration, store: any CacheStore) {
        self.store = UsersCacheStore.wrapping(store)
        memory = store as? MemoryCacheStore
        now = configuration.cacheTime
        rules = CacheRules(isShared: configuration.isCacheShared)
        jar = configuration.cookieJar
        flights = configuration.collapsesEqualRequests ? CacheFlights() : nil
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        // A connection that switches protocols has no response to store.
        guard next.exchange.call.upgrade == nil else { return try await next(request) }
        let target = try RequestTarget(request.url)
        let head = target.head(of: request)
        let key = CacheKey(target)
        let isRead = head.method == .get || head.method == .head
        let stored = isRead ? ((try? await store.responses(for: key)) ?? []) : []
        return try await CacheExchange(
            cache: self, request: request, head: head, key: key, use: CacheUse(request.options.cachePolicy),
            stored: stored, next: next
        ).response()
    }

    /// A plain request for which nothing is stored in memory passes.
    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool {
        guard let memory, flights == nil, exchange.call.upgrade == nil,
            request.method == .get || request.method == .head, request.body == nil,
            CacheUse(request.options.cachePolicy) == .protocolDefined,
            !request.headerFields.decideAboutStoredResponses
        else { return false }
        if !memory.isEmpty {
            guard let target = try? RequestTarget(request.url) else { return false }
            let stored = memory.storedResponses(for: CacheKey(target))
            guard stored.isEmpty else {
                descent.cached = stored.count == 1 ? Boxed(stored[0]) : nil
                return false
            }
        }
        descent.requestTime = now()
        descent.invalidations = invalidations.count
        return true
    }

    /// A fresh response in memory answers a plain request, if it is the only one for its URL.
    func response(to request: SessionRequest, _ exchange: Exchange, _ descent: Descent) -> StreamedResponse? {
        guard let memory, let stored = descent.cached?.value, request.method == .get,
            HTTPResponseBody.isOnePiece(stored.bodySize, for: exchange.delivery),
            let head = rules.freshHead(of: stored, at: now()), let bytes = memory.useBody(of: stored.id)
        else { return nil }
        var response = StreamedResponse(cached: head, .whole(bytes), at: request.url)
        note(.hit, in: &response)
        return response
    }

    /// The response to HEAD, and one that may not be stored, change nothing where nothing is stored.
    func passes(_ response: inout StreamedResponse, to request: SessionRequest, _ exchange: Exchange) -> Bool {
        guard request.method == .head || rules.refuses(response.head) else { return false }
        note(.miss, in: &response)
        return true
    }

    /// Notes what the cache had to do with a response, and counts it.
    func note(_ outcome: CacheOutcome, in response: inout StreamedResponse, isCounted: Bool = true) {
        response.cacheOutcome = outcome
        if isCounted { store.record(outcome) }
    }

    func intercept(
        _ outcome: Result<StreamedResponse, SessionError>, of request: SessionRequest, descent: Descent,
        next: InterceptorChain
    ) async throws -> StreamedResponse {
        let (response, responseTime) = (try outcome.get(), now())
        let target = try RequestTarget(request.url)
        return try await CacheExchange(
            cache: self, request: request, head: target.head(of: request), key: CacheKey(target),
            use: .protocolDefined, stored: [], next: next
        ).keeping(
            .init(
                response: response, requestTime: descent.requestTime ?? responseTime, responseTime: responseTime,
                invalidations: descent.invalidations))
    }
}

extension CacheUse {
    /// What a request's policy means; without one, what HTTP defines.
    init(_ policy: RequestOptions.CachePolicy?) {
        self = policy.flatMap { Self.uses[$0] } ?? .protocolDefined
    }

    private static let uses: [RequestOptions.CachePolicy: CacheUse] = [
        .reloadIgnoringCache: .reload, .reloadIgnoringAllCaches: .reloadEverywhere, .revalidate: .revalidate,
        .cacheElseLoad: .storedElseLoad, .cacheOnly: .storedOnly,
    ]
}

extension SessionError {
    static func notCached(_ url: URL) -> SessionError {
        SessionError(.notCached, "The request asks for a stored response, and there is none.", url: url)
    }

    /// Whether a stale response may stand in for the server's (RFC 5861, section 4): it could not be reached, or did not answer.
    /// What the caller or a policy refused is no such failure.
    var isFailureOfServer: Bool {
        let codes: [Code] = [.connectionFailed, .nameResolutionFailed, .connectionLost, .invalidResponse, .timeout]
        return codes.contains(code) && timeout != .request && timeout != .poolWait
    }
}
