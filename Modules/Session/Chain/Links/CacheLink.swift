internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache
internal import LinnetCookies
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// Answers requests with stored responses, and stores new ones (RFC 9111). A failure of the store never fails a
/// request.
///
/// The rules of LinnetCache decide; this link keeps the place of a request among their decisions in a ``CacheVisit``,
/// and asks for ``CacheWork`` when the store must be read or written. A plain request for which nothing is stored in
/// memory costs no visit.
final class CacheLink: ChainLink {
    /// The cache's notes about a flight.
    struct Note: Sendable {
        /// The passage of a request without a visit, and the number of invalidations at that time; nil for a request
        /// that does not concern the cache.
        var passage: CacheVisit.Passage?
        var visit: Boxed<CacheVisit>?
        /// The lead of this request; others wait until it is released.
        var lead: CacheLead?
    }

    let store: any CacheStore
    /// The store, if it is in memory and can be asked without waiting.
    private let memory: MemoryCacheStore?
    /// The clock for ages.
    let now: @Sendable () -> Date
    let rules: CacheRules
    /// The jar for the cookies of validations in the background.
    let jar: CookieJar?
    /// The requests that others wait for; nil if no request waits for another.
    let flights: CacheFlights?
    private let hasNetwork: Bool
    /// The origins whose requests a shared cache treats as ones with Authorization: they are signed below it.
    private let signedOrigins: Set<Origin>
    let refreshes = CacheRefreshes()
    let invalidations = CacheInvalidations()

    init(_ configuration: HTTPSession.Configuration, store: any CacheStore) {
        self.store = UsersCacheStore.wrapping(store)
        memory = store as? MemoryCacheStore
        now = configuration.cacheTime
        rules = CacheRules(isShared: configuration.isCacheShared)
        jar = configuration.cookieJar
        flights = configuration.collapsesEqualRequests ? CacheFlights() : nil
        hasNetwork = configuration.network != nil
        signedOrigins = configuration.isCacheShared ? configuration.requestSigner?.origins ?? [] : []
    }

    /// Whether the store is not in memory, and may take any time.
    var mayTakeTime: Bool { memory == nil }

    // MARK: Down

    func send(_ flight: inout Flight) throws(SessionError) -> ChainStep {
        if case .cache(let result) = flight.takeAnswer(), var visit = flight.cache.visit?.value {
            switch result {
            case .stored(let responses):
                visit.stored = responses
                return decide(visit, &flight)
            case .waited(.cancelled):
                throw .cancelled(flight.request.url)
            case .waited(let outcome):
                // Once the other request has ended, the store has its response, or this one goes on alone: the next
                // one's could not be stored either.
                visit.mayWait = outcome != .ended
                return ask(.stored, visit, &flight)
            case .response(let response?):
                return end(with: response, &flight)
            case .response(nil):
                // The entry was removed meanwhile.
                if case .answering(let source) = visit.phase { visit.stored.removeAll { $0.id == source } }
                return decide(visit, &flight)
            }
        }
        if let visit = flight.cache.visit?.value, visit.isRefresh, case .validating(let validation) = visit.phase {
            return validate(validation, visit, &flight)
        }
        flight.cache = Note()
        // A connection that switches protocols has no response to store.
        guard flight.upgrade == nil else { return .proceed }
        return try begin(&flight)
    }

    func sendAgain(_ flight: inout Flight) -> ChainStep {
        flight.cache.visit?.value.passage = passage
        return .proceed
    }

    private var passage: CacheVisit.Passage { .init(requestTime: now(), invalidations: invalidations.count) }

    /// Begins a visit, unless there is nothing to do for the request.
    private func begin(_ flight: inout Flight) throws(SessionError) -> ChainStep {
        let isPlain = memory != nil && flights == nil && flight.request.isPlainForCache
        if isPlain, memory?.isEmpty == true {
            flight.cache.passage = passage
            return .proceed
        }
        let target = try flight.target()
        let key = CacheKey(target)
        let isRead = flight.request.method == .get || flight.request.method == .head
        let stored = isRead ? memory?.storedResponses(for: key) ?? [] : []
        if isPlain {
            guard !stored.isEmpty else {
                flight.cache.passage = passage
                return .proceed
            }
            if let response = hit(stored, flight) { return end(with: response, &flight) }
        }
        let visit = CacheVisit(
            request: flight.request, head: head(of: flight.request, target), key: key,
            use: CacheUse(flight.request.options.cachePolicy), stored: stored, passage: passage)
        return isRead && memory == nil ? ask(.stored, visit, &flight) : decide(visit, &flight)
    }

    /// The head by which the rules decide.
    private func head(of request: SessionRequest, _ target: RequestTarget) -> HTTPRequest {
        var head = target.head(of: request)
        if signedOrigins.contains(target.origin), !head.headerFields.contains(.authorization) {
            head.headerFields[.authorization] = "Signature"
        }
        return head
    }

    /// A fresh response in memory answers a plain request, if it is the only one for its URL.
    private func hit(_ stored: [StoredResponse], _ flight: Flight) -> StreamedResponse? {
        guard stored.count == 1, let only = stored.first, let memory, flight.request.method == .get,
            HTTPResponseBody.isOnePiece(only.bodySize, for: flight.delivery),
            let head = rules.freshHead(of: only, at: now()), let bytes = memory.useBody(of: only.id)
        else { return nil }
        var response = StreamedResponse(cached: head, .whole(bytes), at: flight.request.url)
        note(.hit, in: &response)
        return response
    }

    /// Performs the rules' decision about the stored responses, after waiting for a running request for the same URL.
    ///
    /// Only a request with a completely read response makes others wait, so that they do not depend on the speed of a
    /// reader.
    private func decide(_ visit: CacheVisit, _ flight: inout Flight) -> ChainStep {
        var visit = visit
        let decision = visit.decision(rules, at: now())
        if let flights, visit.mayWait, flight.cache.lead == nil, visit.canBeCollapsed, decision.asksServer,
            let (other, isLeader) = flights.join(visit.key, mayLead: flight.delivery.isWhole)
        {
            guard isLeader else { return ask(.wait(other), visit, &flight) }
            flight.cache.lead = CacheLead(flights, visit.key, other)
        }
        switch decision {
        case .bypass:
            visit.phase = .bypassing
            flight.cache.visit = Boxed(visit)
            return .proceed
        case .load(let fields):
            return .change(to: load(fields, &visit, &flight))
        case .validate(let validation):
            return validate(validation, visit, &flight)
        case .answer(let answer, let validation):
            visit.phase = .answering(answer.source.id)
            return ask(.answer(answer, refresh: validation), visit, &flight)
        case .unsatisfiable:
            return .end(.failure(.notCached(flight.request.url.withoutUserInfo)))
        }
    }

    /// The request for a new response.
    private func load(_ fields: HTTPFields, _ visit: inout CacheVisit, _ flight: inout Flight) -> SessionRequest {
        visit.phase = .loading
        // Time has passed if the request has waited for another one.
        visit.passage = passage
        flight.cache.visit = Boxed(visit)
        var request = visit.request
        for field in fields { request.headerFields[fields: field.name] = [field] }
        return waitingForNoNetwork(request, visit)
    }

    private func validate(_ validation: CacheValidation, _ visit: CacheVisit, _ flight: inout Flight) -> ChainStep {
        var visit = visit
        visit.phase = .validating(validation)
        visit.passage = passage
        flight.cache.visit = Boxed(visit)
        var (request, head) = (visit.request, visit.head)
        head.headerFields = request.headerFields
        request.headerFields = validation.applied(to: head).headerFields
        return .change(to: waitingForNoNetwork(request, visit))
    }

    /// Returns a stored response in place of the server's while there is no network, without waiting for a refresh.
    private func waitingForNoNetwork(_ request: SessionRequest, _ visit: CacheVisit) -> SessionRequest {
        guard hasNetwork, visit.isRefresh || visit.answer(rules, afterFailureWith: nil, at: now()) != nil else {
            return request
        }
        var request = request
        request.options.waitsForConnectivity = false
        return request
    }

    // MARK: Up

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) throws(SessionError) -> ChainStep {
        let visit: CacheVisit
        if let current = flight.cache.visit?.value {
            visit = current
        } else {
            guard let passage = flight.cache.passage else { return .proceed }
            // If nothing is stored, a response to HEAD, or one that may not be stored, changes nothing.
            guard flight.request.method != .head, !rules.refuses(response.head) else {
                note(.miss, in: &response)
                flight.report(.cache(.miss))
                return .proceed
            }
            let target = try flight.target()
            visit = CacheVisit(
                request: flight.request, head: head(of: flight.request, target), key: CacheKey(target),
                use: .protocolDefined, stored: [], passage: passage, phase: .loading)
        }
        if case .cache(.response(let result)) = flight.takeAnswer() {
            if let result { return end(with: result, &flight) }
            // The response to the conditions cannot be used.
            var visit = visit
            let request = load(CacheRules.fields(of: visit.use, for: visit.head), &visit, &flight)
            return .again(request, otherwise: .proceed)
        }
        return step(after: CacheVisit.Received(response, visit.passage, at: now()), visit, &flight)
    }

    private func step(
        after received: CacheVisit.Received, _ visit: CacheVisit, _ flight: inout Flight
    ) -> ChainStep {
        let head = received.response.head
        switch visit.phase {
        case .answering, .deciding:
            return .proceed
        case .bypassing:
            let keys = rules.invalidatedKeys(by: head, to: visit.head, key: visit.key)
            guard keys.isEmpty else { return ask(.invalidate(keys, received), visit, &flight) }
            return end(with: received.response, as: .bypass, visit, &flight)
        case .loading:
            // A stale response may stand in for an error of the server (RFC 5861, section 4).
            let answer = visit.answer(rules, afterFailureWith: head.status, at: received.responseTime)
            return ask(answer.map { .substitute($0, received) } ?? .keep(received), visit, &flight)
        case .validating(let validation):
            let outcome = rules.outcome(
                of: head, to: validation, for: visit.head, use: visit.use, among: visit.stored,
                requestTime: received.requestTime, responseTime: received.responseTime)
            switch outcome {
            case .confirmed(let answer, let updated, let removed):
                return ask(.confirm(answer, updated: updated, removed: removed, received), visit, &flight)
            case .notModified:
                return end(with: received.response, as: .miss, visit, &flight)
            case .unknown:
                var visit = visit
                let request = load(CacheRules.fields(of: visit.use, for: visit.head), &visit, &flight)
                return .again(request, otherwise: .proceed)
            case .stale(let answer):
                return ask(.substitute(answer, received), visit, &flight)
            case .new:
                return ask(.keep(received), visit, &flight)
            }
        }
    }

    /// Answers a failed request with a stored response.
    func receive(_ failure: inout SessionError, _ flight: inout Flight) -> ChainStep {
        if case .cache(.response(let result)) = flight.takeAnswer() {
            if var response = result {
                response.attempts = failure.metrics
                return end(with: response, &flight)
            }
        } else if failure.isFailureOfServer, let visit = flight.cache.visit?.value, visit.canFail,
            let answer = visit.answer(rules, afterFailureWith: nil, at: now())
        {
            return ask(.answer(answer, refresh: nil, asStale: true), visit, &flight)
        }
        // If only the leader was cancelled, the requests that wait for it still want the response.
        flight.cache.lead?.end(failure.code == .cancelled ? .handedOver : .ended)
        return .proceed
    }

    private func end(
        with response: StreamedResponse, as outcome: CacheStatistics.Outcome, _ visit: CacheVisit,
        _ flight: inout Flight
    ) -> ChainStep {
        var response = response
        note(outcome, in: &response, isCounted: !visit.isRefresh)
        return end(with: response, &flight)
    }

    private func end(with response: StreamedResponse, _ flight: inout Flight) -> ChainStep {
        flight.cache.lead?.end(.ended)
        if let outcome = response.cacheOutcome, flight.cache.visit?.value.isRefresh != true {
            flight.report(.cache(outcome))
        }
        return .end(.success(response))
    }

    private func ask(_ task: CacheWork.Task, _ visit: CacheVisit, _ flight: inout Flight) -> ChainStep {
        flight.cache.visit = Boxed(visit)
        return .ask(.cache(CacheWork(link: self, visit: visit), task))
    }

    /// Records the part of the cache in a response, and counts it.
    func note(_ outcome: CacheStatistics.Outcome, in response: inout StreamedResponse, isCounted: Bool = true) {
        response.cacheOutcome = outcome
        if isCounted { store.record(outcome) }
    }
}

extension SessionRequest {
    /// Whether HTTP alone decides about the request, and stored responses can answer it.
    fileprivate var isPlainForCache: Bool {
        (method == .get || method == .head) && body == nil && CacheUse(options.cachePolicy) == .protocolDefined
            && !headerFields.decideAboutStoredResponses
    }
}

extension ResponseDelivery {
    fileprivate var isWhole: Bool { if case .whole = self { true } else { false } }
}

extension CacheDecision {
    fileprivate var asksServer: Bool {
        switch self {
        case .load, .validate: true
        default: false
        }
    }
}

extension CacheUse {
    /// The meaning of a request's policy; without one, the rules of HTTP.
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

    /// Whether a stale response may stand in for the server's (RFC 5861, section 4): it could not be reached, or did
    /// not answer. A refusal by the caller or a policy is not such a failure.
    var isFailureOfServer: Bool {
        let codes: [Code] = [.connectionFailed, .nameResolutionFailed, .connectionLost, .invalidResponse, .timeout]
        return codes.contains(code) && timeout != .request && timeout != .poolWait
    }
}
