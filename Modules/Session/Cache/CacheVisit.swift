internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache
internal import LinnetSerialization
internal import LinnetTransport

/// One request's way through the cache.
struct CacheVisit: Sendable {
    /// The phase of the request.
    enum Phase: Sendable {
        case deciding
        /// This entry answers it.
        case answering(StoredResponse.ID)
        /// It goes to the server, and concerns the cache only by its invalidations.
        case bypassing
        case loading
        case validating(CacheValidation)
    }

    /// The facts about the moment when a request passed the cache.
    struct Passage: Sendable {
        let requestTime: Date
        let invalidations: UInt64
    }

    /// A response of the server, and the times of its request and arrival.
    struct Received: Sendable {
        var response: StreamedResponse
        let requestTime: Date
        let responseTime: Date
        /// The number of invalidations at the time of the request.
        let invalidations: UInt64

        init(_ response: StreamedResponse, _ passage: Passage, at responseTime: Date) {
            self.response = response
            requestTime = passage.requestTime
            self.responseTime = responseTime
            invalidations = passage.invalidations
        }
    }

    /// The request without conditions of the cache.
    let request: SessionRequest
    /// Its head, for the rules.
    let head: HTTPRequest
    let key: CacheKey
    let use: CacheUse
    /// The stored responses of the key.
    var stored: [StoredResponse]
    var passage: Passage
    var phase = Phase.deciding
    /// Whether the cache itself makes the request, which is then not counted.
    var isRefresh = false
    /// Whether the request may wait for another one.
    var mayWait = true

    /// The rules' decision for the request and the stored responses.
    func decision(_ rules: CacheRules, at now: Date) -> CacheDecision {
        let isRead = head.method == .get || head.method == .head
        // HTTP gives no meaning to the content of such a request, but some servers do, so the URL does not identify the
        // response.
        if isRead, request.body != nil { return use == .storedOnly ? .unsatisfiable : .bypass }
        return rules.decision(for: head, use: use, among: stored, at: now)
    }

    /// The stored response that answers if the server fails in this way; a nil status means that it cannot be reached.
    func answer(
        _ rules: CacheRules, afterFailureWith status: HTTPResponse.Status?, at now: Date
    ) -> CachedAnswer? {
        guard !stored.isEmpty else { return nil }
        return rules.answer(afterFailureOf: head, use: use, status: status, among: stored, at: now)
    }

    /// Whether a failure of the server concerns the cache.
    var canFail: Bool {
        switch phase {
        case .loading, .validating: true
        case .deciding, .answering, .bypassing: false
        }
    }

    /// Whether the request may wait for another one. Waiting requests have the limits of the request that they wait
    /// for, so all must have the session's. The limit on a whole request is its own while it waits.
    var canBeCollapsed: Bool {
        !isRefresh && head.method == .get && request.body == nil && !head.headerFields.contains(.range)
            && [.protocolDefined, .storedElseLoad].contains(use) && request.options.waitsForConnectivity == nil
            && request.options.idleTimeout == nil && request.options.connectTimeout == nil
    }
}
