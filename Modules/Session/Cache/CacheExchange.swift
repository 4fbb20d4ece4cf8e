internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache
internal import LinnetCookies
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// The way of one request through the cache: what the rules decide is done here.
struct CacheExchange: Sendable {
    let cache: CacheInterceptor
    /// The request as it is sent without conditions of the cache.
    let request: SessionRequest
    /// Its head, which the rules look at.
    let head: HTTPRequest
    let key: CacheKey
    let use: CacheUse
    /// The stored responses of the key.
    var stored: [StoredResponse]
    let next: InterceptorChain
    /// Whether the request is one of the cache's own, which is not counted.
    var isRefresh = false

    var rules: CacheRules { cache.rules }
    var store: any CacheStore { cache.store }

    /// Does what the rules have decided.
    func response(by decision: CacheDecision) async throws(SessionError) -> StreamedResponse {
        switch decision {
        case .bypass:
            return try await bypass()
        case .load(let fields):
            return try await load(fields)
        case .validate(let validation):
            return try await validate(validation)
        case .answer(let answer, let validation):
            guard let response = await response(of: answer, as: answer.isStale ? .stale : .hit) else {
                // The entry was removed meanwhile.
                return try await without(answer.source).response()
            }
            if let validation { refresh(validation) }
            return response
        case .unsatisfiable:
            throw .notCached(request.url.withoutUserInfo)
        }
    }

    /// What the rules decide for the request and the stored responses.
    var decision: CacheDecision {
        let isRead = head.method == .get || head.method == .head
        // The content of such a request has no meaning in HTTP, but has one to some servers: a URL does not identify the response.
        if isRead, request.body != nil { return use == .storedOnly ? .unsatisfiable : .bypass }
        return rules.decision(for: head, use: use, among: stored, at: cache.now())
    }

    // MARK: Over the network

    /// A response of the server, and the times between which it was made.
    struct Received {
        var response: StreamedResponse
        let requestTime: Date
        let responseTime: Date
        /// The number of invalidations at the time of the request.
        let invalidations: UInt64
    }

    private func send(_ request: SessionRequest) async throws(SessionError) -> Received {
        let (requestTime, invalidations) = (cache.now(), cache.invalidations.count)
        var request = request
        // A stored response stands in for the server's while there is no network, and a refresh is not waited for.
        if next.engine.network != nil, isRefresh || standsIn { request.options.waitsForConnectivity = false }
        let response = try await next(request)
        return Received(
            response: response, requestTime: requestTime, responseTime: cache.now(), invalidations: invalidations)
    }

    /// Whether a stored response answers if the server cannot be reached.
    private var standsIn: Bool {
        !stored.isEmpty
            && rules.answer(afterFailureOf: head, use: use, status: nil, among: stored, at: cache.now()) != nil
    }

    private func bypass() async throws(SessionError) -> StreamedResponse {
        var response = try await next(request)
        let keys = rules.invalidatedKeys(by: response.head, to: head, key: key)
        if !keys.isEmpty {
            cache.invalidations.add(keys)
            try? await store.removeAll(for: keys)
        }
        note(.bypass, in: &response)
        return response
    }

    private func load(_ fields: HTTPFields) async throws(SessionError) -> StreamedResponse {
        var sent = request
        for field in fields { sent.headerFields[fields: field.name] = [field] }
        let received: Received
        do {
            received = try await send(sent)
        } catch {
            return try await staleResponse(after: error)
        }
        let status = received.response.head.status
        if let answer = rules.answer(
            afterFailureOf: head, use: use, status: status, among: stored, at: received.responseTime)
        {
            return try await staleResponse(answer, insteadOf: received)
        }
        return try await keeping(received)
    }

    private func validate(_ validation: CacheValidation) async throws(SessionError) -> StreamedResponse {
        var sent = request
        var fields = head
        fields.headerFields = request.headerFields
        sent.headerFields = validation.applied(to: fields).headerFields
        let received: Received
        do {
            received = try await send(sent)
        } catch {
            return try await staleResponse(after: error)
        }
        switch rules.outcome(
            of: received.response.head, to: validation, for: head, use: use, among: stored,
            requestTime: received.requestTime, responseTime: received.responseTime)
        {
        case .confirmed(let answer, let updated, let removed):
            let response = await response(of: answer, as: .revalidated, confirmedBy: received.response.head)
            for response in updated { try? await store.update(response) }
            if !removed.isEmpty { try? await store.remove(removed) }
            guard var response else { return try await repeated(after: received) }
            response.attempts = await received.response.drained()
            return response
        case .notModified:
            var response = received.response
            note(.miss, in: &response)
            return response
        case .unknown:
            return try await repeated(after: received)
        case .stale(let answer):
            return try await staleResponse(answer, insteadOf: received)
        case .new:
            return try await keeping(received)
        }
    }

    /// Sends the request without conditions, since the response to them cannot be used.
    private func repeated(after received: Received) async throws(SessionError) -> StreamedResponse {
        let attempts = await received.response.drained()
        do {
            var response = try await load(CacheRules.fields(of: use, for: head))
            response.attempts = attempts + response.attempts
            return response
        } catch {
            throw error.adding(attempts)
        }
    }

    // MARK: Stored responses

    /// The stored response that stands in for a failed request; throws the failure if there is none.
    private func staleResponse(after error: SessionError) async throws(SessionError) -> StreamedResponse {
        guard error.isFailureOfServer,
            let answer = rules.answer(afterFailureOf: head, use: use, status: nil, among: stored, at: cache.now()),
            var response = await response(of: answer, as: .stale)
        else { throw error }
        response.attempts = error.metrics
        return response
    }

    private func staleResponse(
        _ answer: CachedAnswer, insteadOf received: Received
    ) async throws(SessionError) -> StreamedResponse {
        guard var response = await response(of: answer, as: .stale) else { return try await keeping(received) }
        response.attempts = await received.response.drained()
        return response
    }

    /// The response that a stored one makes; nil if its body cannot be read.
    private func response(
        of answer: CachedAnswer, as outcome: CacheOutcome, confirmedBy confirmation: HTTPResponse? = nil
    ) async -> StreamedResponse? {
        var body = HTTPResponseBody.whole(Data())
        if let range = answer.body {
            guard let found = (try? await store.body(of: answer.source.id)) ?? nil,
                let stored = try? await HTTPResponseBody.stored(found, range, for: next.exchange.delivery)
            else { return nil }
            body = stored
        }
        var response = StreamedResponse(cached: answer.head, body, at: request.url, confirmedBy: confirmation)
        note(outcome, in: &response)
        return response
    }

    private func without(_ response: StoredResponse) -> CacheExchange {
        var exchange = self
        exchange.stored.removeAll { $0.id == response.id }
        return exchange
    }

    func note(_ outcome: CacheOutcome, in response: inout StreamedResponse) {
        cache.note(outcome, in: &response, isCounted: !isRefresh)
    }

    // MARK: stale-while-revalidate

    /// Validates a stale response that has answered already (RFC 5861, section 3).
    private func refresh(_ validation: CacheValidation) {
        var exchange = next.exchange
        exchange.delivery = .streamed
        exchange.call = CallContext(own: exchange.call.own)
        exchange.deadline = next.engine.deadline(of: request)
        exchange.record = exchange.record.map { _ in RequestRecord(id: TaskID.next()) }
        let refresh = CacheExchange(
            cache: cache, request: request, head: head, key: key, use: .protocolDefined, stored: stored,
            next: InterceptorChain(engine: next.engine, index: next.index, exchange: exchange), isRefresh: true)
        cache.refreshes.start(key) {
            guard let response = try? await refresh.validate(validation) else { return }
            refresh.storeCookies(of: response)
            await response.body.readIntoStore()
        }
    }
}

extension CacheExchange {
    /// Stores the cookies of a response to a request of the cache's own, which the link of the cookies does not see.
    private func storeCookies(of response: StreamedResponse) {
        guard request.options.usesCookies ?? true else { return }
        cache.jar?.store(
            setCookieFields: response.head.headerFields, of: request.url, context: request.cookieContext)
    }
}

extension StreamedResponse {
    /// The response that a stored one makes. Of the fields that are for one request, it has those of the confirming response
    /// alone.
    init(
        cached head: HTTPResponse, _ body: HTTPResponseBody, at url: URL,
        confirmedBy confirmation: HTTPResponse? = nil
    ) {
        self.init(url: url, head: head, body: body)
        for name in fieldsOfOneRequest {
            if head.headerFields.contains(name) { self.head.headerFields[name] = nil }
            self.head.headerFields.append(contentsOf: confirmation?.headerFields[fields: name] ?? [])
        }
    }

    /// Reads the unused body to its end; returns the final metrics of the attempts.
    fileprivate func drained() async -> [TransportMetrics] {
        await body.drain()
        return metrics
    }
}

/// Fields that a server sends for one request: cookies, the proof that it knows the password, and what a verified
/// connection says about the host.
private let fieldsOfOneRequest: [HTTPField.Name] = [.setCookie, .authenticationInfo, .strictTransportSecurity]
