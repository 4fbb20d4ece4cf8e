package import FoundationEssentials
package import HTTPTypes

extension CacheRules {
    /// Decides about a request (RFC 9111, section 4).
    ///
    /// - Parameters:
    ///   - request: The request with all its final fields, since Vary may name any.
    ///   - use: The permitted use of stored responses. Every value except for ``CacheUse/protocolDefined`` overrides
    ///     the request's directives.
    ///   - stored: All stored responses of the request's key.
    ///   - now: The time.
    package func decision(
        for request: HTTPRequest, use: CacheUse = .protocolDefined, among stored: [StoredResponse], at now: Date
    ) -> CacheDecision {
        let fields = request.headerFields
        let directives =
            fields.decideAboutStoredResponses ? CacheDirectives(request: fields) : CacheDirectives(request: [:])
        let decision = unrestrictedDecision(for: request, directives, use: use, among: stored, at: now)
        guard use == .storedOnly || directives.onlyIfCached else { return decision }
        if case .answer(let answer, _) = decision { return .answer(answer, validating: nil) }
        return .unsatisfiable
    }

    /// The decision for a request that may be sent.
    private func unrestrictedDecision(
        for request: HTTPRequest, _ directives: CacheDirectives, use: CacheUse, among stored: [StoredResponse],
        at now: Date
    ) -> CacheDecision {
        guard request.method == .get || request.method == .head else { return .bypass }
        let own = Self.fields(of: use, directives)
        if use == .reload || use == .reloadEverywhere { return .load(own) }
        let found = answer(to: request, among: stored, at: now)
        let validation = { self.validation(of: found, for: request, among: stored, at: now)?.adding(own) }
        guard let answer = found else { return validation().map { .validate($0) } ?? .load(own) }
        switch use {
        case .storedElseLoad, .storedOnly: return .answer(answer, validating: nil)
        case .revalidate: return validation().map { .validate($0) } ?? .load(own)
        default: break
        }
        switch reuse(of: answer.source, directives, at: now) {
        case .allowed: return .answer(answer, validating: nil)
        case .allowedWhileValidating: return .answer(answer, validating: validation() ?? .unconditional)
        case .afterValidation: return validation().map { .validate($0) } ?? .load([:])
        }
    }

    /// The request fields that tell other caches on the way how they may use stored responses.
    package static func fields(of use: CacheUse, for request: HTTPRequest) -> HTTPFields {
        use == .protocolDefined ? [:] : fields(of: use, CacheDirectives(request: request.headerFields))
    }

    /// The fields of a use, which overrides the request's own directives except for `no-store`.
    private static func fields(of use: CacheUse, _ directives: CacheDirectives) -> HTTPFields {
        switch use {
        case .reloadEverywhere: [.cacheControl: "no-cache", .pragma: "no-cache"]
        case .revalidate: [.cacheControl: directives.noStore ? "max-age=0, no-store" : "max-age=0"]
        case .protocolDefined, .reload, .storedElseLoad, .storedOnly: [:]
        }
    }

    private enum Reuse {
        case allowed
        case allowedWhileValidating
        case afterValidation
    }

    /// Whether a response may answer without validation (sections 4.2.4, 5.2.1 and 5.2.2; RFC 5861, section 3).
    private func reuse(of stored: StoredResponse, _ request: CacheDirectives, at now: Date) -> Reuse {
        let response = stored.facts.directives
        let freshness = freshness(of: stored, at: now)
        guard request.noCache == nil, response.noCache != .response else { return .afterValidation }
        // A fresh immutable response satisfies a reload if it came over a secure connection, where no proxy can
        // have changed it (RFC 8246).
        let isImmutable = response.isImmutable && stored.key.isSecure
        let maxAge = isImmutable && freshness.isFresh ? nil : request.maxAge.map(Double.init)
        let ageExcess = maxAge.map { freshness.age - $0 } ?? -.infinity
        let excess = max(freshness.staleness + Double(request.minFresh ?? 0), ageExcess)
        let isSatisfying = request.minFresh == nil ? ageExcess <= 0 : excess <= 0
        if freshness.isFresh, isSatisfying { return .allowed }
        guard freshness.isFresh || allowsStale(response) else { return .afterValidation }
        if let maxStale = request.maxStale { return excess <= Double(maxStale) ? .allowed : .afterValidation }
        // A client that limits the age wants no stale response (section 5.2.1.1).
        guard !freshness.isFresh, request.maxAge == nil, request.minFresh == nil,
            let seconds = response.staleWhileRevalidate
        else { return .afterValidation }
        return freshness.staleness <= Double(seconds) ? .allowedWhileValidating : .afterValidation
    }

    /// Whether a stale response may be used (section 4.2.4).
    private func allowsStale(_ response: CacheDirectives) -> Bool {
        let isSharedLimit = response.proxyRevalidate || response.sharedMaxAge != nil
        return !response.mustRevalidate && response.noCache != .response && !(isShared && isSharedLimit)
    }

    /// The stale response for a request whose validation failed (RFC 5861, section 4).
    ///
    /// - Parameters:
    ///   - request: The caller's request.
    ///   - use: The permitted use of stored responses.
    ///   - status: The status of the response; nil if there is none.
    ///   - stored: All stored responses of the request's key.
    ///   - now: The time.
    /// - Returns: The answer; nil if neither the request nor the response has `stale-if-error`, or if the response is
    ///   too old or must be validated.
    package func answer(
        afterFailureOf request: HTTPRequest, use: CacheUse = .protocolDefined, status: HTTPResponse.Status?,
        among stored: [StoredResponse], at now: Date
    ) -> CachedAnswer? {
        let directives = CacheDirectives(request: request.headerFields)
        // The statuses are the errors of RFC 5861, section 4.
        guard use == .protocolDefined, directives.noCache == nil,
            status.map({ [500, 502, 503, 504].contains($0.code) }) ?? true,
            let answer = answer(to: request, among: stored, at: now)
        else { return nil }
        let response = answer.source.facts.directives
        // Each of the two permits it alone.
        let limits = [directives.staleIfError, response.staleIfError].compactMap { $0 }
        guard let limit = limits.max(), allowsStale(response) else { return nil }
        return freshness(of: answer.source, at: now).staleness <= Double(limit) ? answer : nil
    }
}

extension CacheValidation {
    /// The validation of a response without validators: the request stays unchanged.
    static let unconditional = CacheValidation(fields: [:], removedFields: [], candidates: [])
}
