package import FoundationEssentials
package import HTTPTypes

extension CacheRules {
    /// The reasons not to store a response (RFC 9111, section 3).
    package enum Refusal: Hashable, Sendable {
        /// The method is not GET.
        case method
        /// The status is not final, is 304, or is not understood although the response requires it.
        case status
        /// The request has `no-store`.
        case noStoreInRequest
        /// The response has `no-store`.
        case noStore
        /// The response is private, and the cache is shared.
        case isPrivate
        /// The request has credentials, and the response does not allow shared caches to store it (section 3.5).
        case authorization
        /// The response has no expiration, and its status is not cacheable without one.
        case notCacheable
        /// Vary has `*`, is malformed, or names too many fields.
        case vary
        /// The 206 response has several parts, no known length, or no strong validator (section 3.4).
        case part
    }

    /// The reason why a response must not be stored; nil if it may be.
    package func refusal(of response: HTTPResponse, to request: HTTPRequest) -> Refusal? {
        guard request.method == .get else { return .method }
        let status = response.status
        let directives = CacheDirectives(response: response.headerFields)
        guard status.code >= 200, status.code != 304, !directives.mustUnderstand || status.isUnderstood else {
            return .status
        }
        if CacheDirectives(request: request.headerFields).noStore { return .noStoreInRequest }
        if directives.forbidStoring { return .noStore }
        if isShared {
            if directives.isPrivate == .response { return .isPrivate }
            let isAllowed = directives.mustRevalidate || directives.isPublic || directives.sharedMaxAge != nil
            if request.headerFields.contains(.authorization), !isAllowed { return .authorization }
        }
        guard isCacheable(response, directives) else { return .notCacheable }
        guard StoredResponse.Variant(of: response, to: request) != nil else { return .vary }
        return status.code == 206 && Self.part(of: response) == nil ? .part : nil
    }

    /// Whether a response to GET must not be stored, whatever its request. ``refusal(of:to:)`` alone refuses the
    /// others.
    package func refuses(_ response: HTTPResponse) -> Bool {
        let directives = CacheDirectives(response: response.headerFields)
        return directives.forbidStoring || !isCacheable(response, directives)
    }

    /// Whether the response meets the last condition of section 3.
    private func isCacheable(_ response: HTTPResponse, _ directives: CacheDirectives) -> Bool {
        response.status.isHeuristicallyCacheable || directives.isPublic || directives.maxAge != nil
            || response.headerFields.contains(.expires) || !isShared && directives.isPrivate != nil
            || isShared && directives.sharedMaxAge != nil
    }

    /// The part that a 206 response contains, if it can be stored.
    static func part(of response: HTTPResponse) -> StoredResponse.Part? {
        let fields = response.headerFields
        guard Validators(response).hasStrong, let range = fields[.contentRange] else { return nil }
        return StoredResponse.Part(contentRange: range)
    }

    /// The entry of a response, without its body; nil if it must not be stored.
    package func entry(
        for response: HTTPResponse, to request: HTTPRequest, key: CacheKey, requestTime: Date, responseTime: Date
    ) -> StoredResponse? {
        guard refusal(of: response, to: request) == nil,
            let variant = StoredResponse.Variant(of: response, to: request)
        else { return nil }
        var head = storedHead(response, receivedAt: responseTime)
        let part = response.status.code == 206 ? Self.part(of: response) : nil
        if let part { head = Self.whole(head, of: part) }
        return StoredResponse(
            id: StoredResponse.ID(rawValue: 0), key: key, head: head, variant: variant, requestTime: requestTime,
            responseTime: responseTime, part: part, bodySize: 0)
    }

    /// The head of the 200 response that a 206 response is a part of.
    private static func whole(_ head: HTTPResponse, of part: StoredResponse.Part) -> HTTPResponse {
        var head = head
        head.status = .ok
        head.headerFields[.contentRange] = nil
        head.headerFields[.contentLength] = String(part.total)
        return head
    }
}
