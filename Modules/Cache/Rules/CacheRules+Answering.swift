package import FoundationEssentials
package import HTTPTypes
internal import LinnetMessages

extension CacheRules {
    /// The answer of the first preferred stored response that can give one, whatever its age.
    func answer(to request: HTTPRequest, among stored: [StoredResponse], at now: Date) -> CachedAnswer? {
        Self.selected(for: request, among: stored).lazy.compactMap { answer(to: request, with: $0, at: now) }.first
    }

    /// The responses whose Vary fields match the request, the preferred one first.
    ///
    /// A response with Vary is preferred to one without, and then the one with the latest Date (RFC 9111, section 4.1).
    /// The one received last is preferred among responses with the same Date.
    static func selected(for request: HTTPRequest, among stored: [StoredResponse]) -> [StoredResponse] {
        let matching = stored.filter { $0.variant.matches(request) }
        guard matching.count > 1 else { return matching }
        return matching.map { ($0, date(of: $0)) }
            .sorted { left, right in
                if left.0.variant.isEmpty != right.0.variant.isEmpty { return right.0.variant.isEmpty }
                return left.1 == right.1 ? isReceivedLater(left.0, right.0) : left.1 > right.1
            }
            .map(\.0)
    }

    /// Whether a response was received after another one. The identifiers decide only about the same time, because a
    /// store may choose them at random.
    static func isReceivedLater(_ left: StoredResponse, _ right: StoredResponse) -> Bool {
        left.responseTime == right.responseTime
            ? left.id.rawValue > right.id.rawValue : left.responseTime > right.responseTime
    }

    /// The response to a request from a stored response, whatever its age; nil if only the server can answer.
    ///
    /// The caller's If-None-Match and If-Modified-Since are evaluated (RFC 9111, section 4.3.2), then If-Range and a
    /// single range of bytes (RFC 9110, section 13.2.2). Only the server evaluates If-Match and If-Unmodified-Since. A
    /// range of coded bytes does not answer a request for uncoded ones.
    func answer(to request: HTTPRequest, with stored: StoredResponse, at now: Date) -> CachedAnswer? {
        let fields = request.headerFields
        let isPlain = !fields.decideAboutStoredResponses
        guard isPlain || !fields.contains(.ifMatch) && !fields.contains(.ifUnmodifiedSince) else { return nil }
        let freshness = freshness(of: stored, at: now)
        var head = stored.head
        head.setAge(freshness.age)
        let answer = { (head: HTTPResponse, body: Range<Int64>?) in
            CachedAnswer(source: stored, head: head, body: body, isStale: !freshness.isFresh)
        }
        if isPlain, request.method == .get { return stored.part == nil ? answer(head, 0..<stored.bodySize) : nil }
        let validators = stored.facts.validators
        // Conditions count only where the response without them would be a success (RFC 9110, section 13.2.1).
        if stored.facts.isOK {
            guard let condition = Condition(fields) else { return nil }
            if condition.isNotModified(validators) { return answer(Self.notModified(head), nil) }
        }
        if request.method == .head { return answer(head, nil) }
        guard stored.facts.isOK, let range = Self.range(of: request, validators) else {
            return stored.part == nil ? answer(head, 0..<stored.bodySize) : nil
        }
        if Self.excludesCodings(request), Self.isCoded(stored.head) { return nil }
        guard let requested = range.resolved(length: stored.totalSize) else { return nil }
        let held = stored.storedRange
        guard held.lowerBound <= requested.lowerBound, requested.upperBound <= held.upperBound else { return nil }
        let part = StoredResponse.Part(range: requested, total: stored.totalSize)
        head.status = .partialContent
        head.headerFields[.contentRange] = part.contentRange
        head.headerFields[.contentLength] = String(requested.count)
        return answer(head, requested.lowerBound - held.lowerBound..<requested.upperBound - held.lowerBound)
    }

    /// The head of the answer to a GET request without directives, conditions and ranges, if a stored response answers
    /// it without validation. The result equals ``decision(for:use:among:at:)`` in this case, with less work.
    package func freshHead(of stored: StoredResponse, at now: Date) -> HTTPResponse? {
        let freshness = freshness(of: stored, at: now)
        guard freshness.isFresh, stored.part == nil, stored.variant.isEmpty,
            stored.facts.directives.noCache != .response
        else { return nil }
        var head = stored.head
        head.setAge(freshness.age)
        return head
    }

    /// The range of a request; nil if the whole representation is requested, or if If-Range does not name the stored
    /// response.
    private static func range(of request: HTTPRequest, _ validators: Validators) -> RangeRequest? {
        let range = RangeRequest(request)
        guard range != .none else { return nil }
        if let value = request.headerFields[isoLatin1: .ifRange], !validators.satisfies(ifRange: value) { return nil }
        return range
    }

    /// Whether a request accepts only content without codings (RFC 9110, section 12.5.3).
    private static func excludesCodings(_ request: HTTPRequest) -> Bool {
        request.headerFields[.acceptEncoding].map { TokenList.names($0) == ["identity"] } ?? false
    }

    private static func isCoded(_ head: HTTPResponse) -> Bool {
        head.headerFields[.contentEncoding].map { TokenList.names($0) != ["identity"] } ?? false
    }

    /// A 304 response with its mandatory fields (RFC 9110, section 15.4.5).
    private static func notModified(_ head: HTTPResponse) -> HTTPResponse {
        let kept: [HTTPField.Name] = [
            .age, .cacheControl, .contentLocation, .date, .eTag, .expires, .lastModified, .vary,
        ]
        let names = Set(kept.map(\.canonicalName))
        return HTTPResponse(
            status: .notModified, headerFields: head.headerFields.filter { names.contains($0.name.canonicalName) })
    }
}

extension HTTPResponse {
    /// Sets Age, in seconds (RFC 9111, section 5.1).
    fileprivate mutating func setAge(_ age: Double) {
        let age = String(Int64(min(age, Double(DeltaSeconds.limit))))
        if headerFields.contains(.age) {
            headerFields[.age] = age
        } else {
            headerFields.append(HTTPField(name: .age, value: age))
        }
    }
}

/// The caller's own condition for a stored response.
private struct Condition {
    private let tags: EntityTag.List?
    private let date: HTTPDate?

    /// Fails if If-None-Match is malformed: only the server can evaluate it.
    init?(_ fields: HTTPFields) {
        if let value = fields[isoLatin1: .ifNoneMatch] {
            guard let list = EntityTag.List(value) else { return nil }
            (tags, date) = (list, nil)
        } else {
            // An invalid date is ignored (RFC 9110, section 13.1.3).
            (tags, date) = (nil, fields[.ifModifiedSince].flatMap { HTTPDate(caseInsensitive: $0) })
        }
    }

    /// Whether the caller already has the stored response.
    func isNotModified(_ validators: Validators) -> Bool {
        switch tags {
        case .any: true
        case .tags(let tags): validators.entityTag.map { own in tags.contains { $0.isEquivalent(to: own) } } ?? false
        case nil: date.map { validators.isUnmodified(since: $0) } ?? false
        }
    }
}
