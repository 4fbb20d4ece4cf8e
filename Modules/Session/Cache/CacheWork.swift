internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache
internal import LinnetCookies
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// The work with the store for a request's way through the cache.
struct CacheWork: Sendable {
    typealias Received = CacheVisit.Received

    /// A piece of work, after which the link is asked again.
    enum Task: Sendable {
        /// Looks up the responses for the request's key.
        case stored
        /// Waits for another request.
        case wait(CacheFlight)
        /// Makes a response from a stored one, and validates that one in the background.
        case answer(CachedAnswer, refresh: CacheValidation?, asStale: Bool = false)
        /// Makes a response from a stored one that the server has confirmed.
        case confirm(CachedAnswer, updated: [StoredResponse], removed: [StoredResponse.ID], Received)
        /// Uses a stored response in place of the received one, which is stored if that cannot be read.
        case substitute(CachedAnswer, Received)
        /// Stores the received response while it is read, if the rules allow that.
        case keep(Received)
        /// Removes the responses that a response invalidates.
        case invalidate([CacheKey], Received)

        /// Whether the work can take longer than a store takes.
        var waits: Bool { if case .wait = self { true } else { false } }
    }

    /// The result of a ``Task``.
    enum Result: Sendable {
        case stored([StoredResponse])
        case waited(CacheFlight.Outcome)
        /// The response that goes up; nil if the stored one cannot be read.
        case response(StreamedResponse?)
    }

    let link: CacheLink
    let visit: CacheVisit

    var rules: CacheRules { link.rules }
    var store: any CacheStore { link.store }
    var head: HTTPRequest { visit.head }

    func perform(_ task: Task, by engine: Engine, _ flight: Flight) async throws(SessionError) -> Result {
        switch task {
        case .stored:
            return .stored((try? await store.responses(for: visit.key)) ?? [])
        case .wait(let other):
            return .waited(await other.wait())
        case .answer(let answer, let validation, let asStale):
            let response = await response(of: answer, as: asStale || answer.isStale ? .stale : .hit, flight)
            // If the stale response cannot be read, the request itself goes to the server.
            if response != nil, let validation { refresh(validation, by: engine, flight) }
            return .response(response)
        case .confirm(let answer, let updated, let removed, let received):
            var response = await response(of: answer, as: .revalidated, flight, confirmedBy: received.response.head)
            for response in updated { try? await store.update(response) }
            await remove(removed)
            if response != nil { response?.attempts = await received.response.drained() }
            return .response(response)
        case .substitute(let answer, let received):
            guard var response = await response(of: answer, as: .stale, flight) else {
                return .response(try await keeping(received, flight))
            }
            response.attempts = await received.response.drained()
            return .response(response)
        case .keep(let received):
            return .response(try await keeping(received, flight))
        case .invalidate(let keys, let received):
            if !keys.isEmpty {
                // Noted first: a response that is about to be stored is then removed from the store, or finds the note.
                link.invalidations.add(keys)
                try? await store.removeAll(for: keys)
            }
            var response = received.response
            note(.bypass, in: &response)
            return .response(response)
        }
    }

    /// Returns the response from a stored one; nil if its body cannot be read.
    private func response(
        of answer: CachedAnswer, as outcome: CacheStatistics.Outcome, _ flight: Flight,
        confirmedBy confirmation: HTTPResponse? = nil
    ) async -> StreamedResponse? {
        var body = HTTPResponseBody.whole(Data())
        if let range = answer.body {
            guard let found = (try? await store.body(of: answer.source.id)) ?? nil,
                let stored = try? await HTTPResponseBody.stored(found, range, for: flight.delivery)
            else { return nil }
            body = stored
        }
        var response = StreamedResponse(cached: answer.head, body, at: visit.request.url, confirmedBy: confirmation)
        note(outcome, in: &response)
        return response
    }

    func remove(_ ids: [StoredResponse.ID]) async {
        if !ids.isEmpty { try? await store.remove(ids) }
    }

    func note(_ outcome: CacheStatistics.Outcome, in response: inout StreamedResponse) {
        link.note(outcome, in: &response, isCounted: !visit.isRefresh)
    }

    // MARK: stale-while-revalidate

    /// Validates a stale response that has answered already (RFC 5861, section 3), by the cache and the links below it.
    private func refresh(_ validation: CacheValidation, by engine: Engine, _ original: Flight) {
        var visit = CacheVisit(
            request: visit.request, head: visit.head, key: visit.key, use: .protocolDefined, stored: visit.stored,
            passage: visit.passage, phase: .validating(validation))
        visit.isRefresh = true
        // A new flight: the original request has ended for its caller, with its hooks, observers and interceptors.
        var flight = Flight(visit.request)
        flight.deadline = engine.deadline(of: visit.request)
        flight.record = original.record.map { _ in Flight.Record(id: TaskID.next()) }
        flight.cache.visit = Boxed(visit)
        link.refreshes.start(visit.key) { [link, flight] in
            var flight = flight
            guard let response = try? await engine.walk(&flight, from: engine.chain.cacheIndex) else { return }
            link.storeCookies(of: response, to: flight.request)
            await response.body.readIntoStore()
        }
    }
}

extension CacheLink {
    /// Stores the cookies of a response to the cache's own request, which does not pass the link of the cookies.
    fileprivate func storeCookies(of response: StreamedResponse, to request: SessionRequest) {
        guard request.options.usesCookies ?? true else { return }
        jar?.store(setCookieFields: response.head.headerFields, of: request.url, context: request.cookieContext)
    }
}

extension StreamedResponse {
    /// Makes a response from a stored one. The fields for a single request come only from the confirming response.
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

/// Fields that a server sends for one request: cookies, the proof that it knows the password, and a verified
/// connection's statement about the host.
private let fieldsOfOneRequest: [HTTPField.Name] = [.setCookie, .authenticationInfo, .strictTransportSecurity]
