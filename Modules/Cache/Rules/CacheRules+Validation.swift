package import FoundationEssentials
package import HTTPTypes
internal import LinnetMessages

extension CacheRules {
    /// The conditions by which the server can confirm a stored response (RFC 9111, section 4.3.1).
    ///
    /// - Parameters:
    ///   - answer: The answer that a fresh response would give; nil if no stored response can answer.
    ///   - request: The caller's request.
    ///   - stored: All stored responses of the request's key. The request carries the entity tags of all that could
    ///     answer it apart from Vary, since the server may choose any of them.
    ///   - now: The time.
    /// - Returns: The conditions; nil if there are none, or if the caller's own conditions cannot be extended.
    func validation(
        of answer: CachedAnswer?, for request: HTTPRequest, among stored: [StoredResponse], at now: Date
    ) -> CacheValidation? {
        let fields = request.headerFields
        let chosen = answer.flatMap { $0.source.head.status == .ok ? $0.source : nil }
        let others = stored.filter {
            $0.id != chosen?.id && $0.head.status == .ok && self.answer(to: request, with: $0, at: now) != nil
        }
        let tagged = ([chosen].compactMap { $0 } + others.sorted(by: Self.isReceivedLater))
            .compactMap { response in response.facts.validators.entityTag.map { (response.id, $0) } }
        if !tagged.isEmpty {
            guard let tags = Self.union(fields[isoLatin1: .ifNoneMatch], tagged.map(\.1)) else { return nil }
            return conditions(tags: tags, for: request, chosen: chosen, candidates: tagged.map(\.0))
        }
        // If-Modified-Since has no effect beside If-None-Match (RFC 9110, section 13.1.3).
        guard !fields.contains(.ifNoneMatch), RangeRequest(request) == .none, let chosen,
            let date = chosen.facts.validators.lastModified
        else { return nil }
        return CacheValidation(fields: [.ifModifiedSince: date], removedFields: [], candidates: [chosen.id])
    }

    /// The conditions with entity tags. If a single response is validated, the modification date is sent as well, for
    /// servers that do not support tags; a date of the caller would contradict the tags.
    private func conditions(
        tags: [String], for request: HTTPRequest, chosen: StoredResponse?, candidates: [StoredResponse.ID]
    ) -> CacheValidation {
        var fields = HTTPFields()
        fields[isoLatin1: .ifNoneMatch] = tags.joined(separator: ", ")
        let isSingle = candidates == chosen.map { [$0.id] } && !request.headerFields.contains(.ifNoneMatch)
        if isSingle, RangeRequest(request) == .none, let chosen {
            fields[.ifModifiedSince] = chosen.facts.validators.lastModified
        }
        let removed: [HTTPField.Name] = fields.contains(.ifModifiedSince) ? [] : [.ifModifiedSince]
        return CacheValidation(fields: fields, removedFields: removed, candidates: candidates)
    }

    /// The tags of the caller and of stored responses without repetition; nil if the caller's list cannot be extended.
    private static func union(_ field: String?, _ tags: [EntityTag]) -> [String]? {
        var all: [EntityTag] = []
        if let field {
            guard case .tags(let own)? = EntityTag.List(field) else { return nil }
            all = own
        }
        var seen: Set<String> = []
        return (all + tags).map(\.text).filter { seen.insert($0).inserted }
    }

    /// Interprets the response to a validation (sections 4.3.3 and 4.3.4).
    ///
    /// - Parameters:
    ///   - response: The response of the server.
    ///   - validation: The conditions that were sent.
    ///   - request: The caller's request.
    ///   - use: The permitted use of stored responses.
    ///   - stored: All stored responses of the request's key.
    ///   - requestTime: The time at which the request was sent.
    ///   - responseTime: The time at which the response was received.
    package func outcome(
        of response: HTTPResponse, to validation: CacheValidation, for request: HTTPRequest,
        use: CacheUse = .protocolDefined, among stored: [StoredResponse], requestTime: Date, responseTime: Date
    ) -> CacheValidationOutcome {
        guard response.status == .notModified else {
            let stale = answer(
                afterFailureOf: request, use: use, status: response.status, among: stored, at: responseTime)
            return stale.map { .stale($0) } ?? .new
        }
        let candidates = stored.filter { validation.candidates.contains($0.id) }
        let confirmed = confirmedResponses(by: response, for: request, among: candidates)
        let times = (requestTime, responseTime)
        let updates = confirmed.map { update($0, with: response, to: request, times: times) }
        let answers = updates.compactMap { answer(to: request, with: $0.response, at: responseTime) }
        guard let answer = answers.first else {
            return Self.isConfirmation(response, of: request.headerFields) ? .notModified : .unknown
        }
        return .confirmed(
            answer, updated: updates.filter(\.isKept).map(\.response),
            removed: updates.filter { !$0.isKept }.map(\.response.id))
    }

    /// Whether a 304 response has one of the caller's entity tags.
    private static func isConfirmation(_ response: HTTPResponse, of fields: HTTPFields) -> Bool {
        guard let tag = Validators(response).entityTag,
            case .tags(let own)? = fields[isoLatin1: .ifNoneMatch].flatMap(EntityTag.List.init)
        else { return false }
        return own.contains { $0.isEquivalent(to: tag) }
    }

    /// The responses that a 304 response confirms, the preferred one first (section 4.3.4).
    ///
    /// A 304 response without validators confirms the only candidate even if that has a validator: some servers omit
    /// the fields that they must repeat, and the request named nothing else. A strong tag confirms the response whose
    /// weak tag has the same text, if no response has the strong one, and if Vary matches the request: nginx weakens
    /// the tag of a response that it compresses, but not the tag of the 304 response about it. Another variant can
    /// consist of other bytes.
    private func confirmedResponses(
        by response: HTTPResponse, for request: HTTPRequest, among candidates: [StoredResponse]
    ) -> [StoredResponse] {
        let new = Validators(response)
        let matching = Self.selected(for: request, among: candidates)
        let ordered = matching + candidates.filter { candidate in !matching.contains { $0.id == candidate.id } }
        if let strong = new.strongTag {
            let same = ordered.filter { $0.facts.validators.entityTag.map { $0.isSame(as: strong) } ?? false }
            if !same.isEmpty { return same }
        }
        if let tag = new.entityTag {
            return Array(
                (tag.isWeak ? ordered : matching).lazy.filter {
                    $0.facts.validators.entityTag.map { $0.isEquivalent(to: tag) } ?? false
                }
                .prefix(1))
        }
        if new.lastModified != nil {
            return Array(ordered.lazy.filter { $0.facts.validators.haveSameModification(as: new) }.prefix(1))
        }
        return ordered.count == 1 && !request.headerFields.contains(.ifNoneMatch) ? ordered : []
    }
}
