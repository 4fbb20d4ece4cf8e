package import HTTPTypes

/// The decision of a cache about a request.
package enum CacheDecision: Hashable, Sendable {
    /// The request is sent unchanged and its response is not stored, because the method is not GET. A response to an
    /// unsafe method invalidates stored responses (``CacheRules/invalidatedKeys(by:to:key:)``).
    case bypass
    /// The request is sent with these fields set, and its response may be stored.
    case load(HTTPFields)
    /// The request is sent with conditions, so that the server can confirm a stored response.
    case validate(CacheValidation)
    /// A stored response answers. With a validation, it is stale, and is validated afterwards (stale-while-revalidate).
    case answer(CachedAnswer, validating: CacheValidation?)
    /// The request must not be sent, and no stored response can answer. The status for this is 504 (RFC 9111, section
    /// 5.2.1.7).
    case unsatisfiable
}

/// The conditions of a request about stored responses (RFC 9111, section 4.3.1).
package struct CacheValidation: Hashable, Sendable {
    /// Fields that replace the request's fields with the same names.
    package let fields: HTTPFields
    /// Fields of the request that are not sent.
    package let removedFields: [HTTPField.Name]
    /// The stored responses whose validators are sent.
    package let candidates: [StoredResponse.ID]

    /// The same conditions with more fields.
    func adding(_ others: HTTPFields) -> CacheValidation {
        guard !others.isEmpty else { return self }
        return CacheValidation(fields: fields + others, removedFields: removedFields, candidates: candidates)
    }

    /// The request that is sent.
    package func applied(to request: HTTPRequest) -> HTTPRequest {
        var request = request
        for name in removedFields { request.headerFields[name] = nil }
        for field in fields { request.headerFields[fields: field.name] = [field] }
        return request
    }
}

/// A response made from a stored one.
package struct CachedAnswer: Hashable, Sendable {
    /// The stored response whose body contains the content.
    package let source: StoredResponse
    /// The head of the response: 200 and other stored statuses, 206 for a range, 304 for a condition of the caller.
    package let head: HTTPResponse
    /// The content as a range of the stored bytes; nil if the response has none.
    package let body: Range<Int64>?
    /// Whether the stored response is stale.
    package let isStale: Bool
}

/// The meaning of a response to a validation (RFC 9111, section 4.3.3).
package enum CacheValidationOutcome: Hashable, Sendable {
    /// The server confirmed a stored response, which answers. The updated responses replace the stored ones with the
    /// same identifiers, and the removed ones must not stay stored.
    case confirmed(CachedAnswer, updated: [StoredResponse], removed: [StoredResponse.ID])
    /// The 304 response answers the caller's own condition.
    case notModified
    /// The 304 response confirms no stored response: the request is sent again without conditions of the cache.
    case unknown
    /// The server failed, and a stale response answers (RFC 5861, section 4).
    case stale(CachedAnswer)
    /// The response answers, and may be stored.
    case new
}
