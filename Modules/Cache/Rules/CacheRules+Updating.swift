package import FoundationEssentials
package import HTTPTypes

extension CacheRules {
    /// A stored response with the fields of a newer one, and whether it may stay stored.
    struct Update {
        let response: StoredResponse
        let isKept: Bool
    }

    /// Updates a stored response with the fields of a 304, 206 or HEAD response (RFC 9111, section 3.2). If the head
    /// would have too many fields, it stays unchanged, and the response does not stay stored.
    func update(
        _ stored: StoredResponse, with response: HTTPResponse, to request: HTTPRequest,
        times: (request: Date, response: Date)
    ) -> Update {
        var updated = stored
        updated.requestTime = times.request
        updated.responseTime = times.response
        guard let head = updatedHead(stored.head, with: response, receivedAt: times.response) else {
            return Update(response: updated, isKept: false)
        }
        updated.head = head
        var get = request
        // The stored response is one to GET, also if a HEAD request updates it.
        get.method = .get
        var isKept = refusal(of: updated.head, to: get) == nil
        if !updated.variant.hasNames(of: updated.head) {
            // The values of the other fields are known only if the response was stored for this request's variant.
            let variant = StoredResponse.Variant(of: updated.head, to: request)
            isKept = isKept && variant != nil && stored.variant.matches(request)
            updated.variant = variant ?? stored.variant
        }
        return Update(response: updated, isKept: isKept)
    }

    /// The consequences of a HEAD response for stored responses to GET (section 4.3.5).
    ///
    /// - Returns: The stored responses with its fields, and the outdated ones.
    package func consequences(
        ofHead response: HTTPResponse, to request: HTTPRequest, among stored: [StoredResponse], requestTime: Date,
        responseTime: Date
    ) -> (updated: [StoredResponse], removed: [StoredResponse.ID]) {
        guard request.method == .head, response.status == .ok else { return ([], []) }
        var (updated, removed): ([StoredResponse], [StoredResponse.ID]) = ([], [])
        for candidate in Self.selected(for: request, among: stored) where candidate.head.status == .ok {
            let update = update(candidate, with: response, to: request, times: (requestTime, responseTime))
            if update.isKept, Self.isSameRepresentation(candidate, response) {
                updated.append(update.response)
            } else {
                removed.append(candidate.id)
            }
        }
        return (updated, removed)
    }

    /// Whether a HEAD response has the validators and the length of a stored response.
    private static func isSameRepresentation(_ stored: StoredResponse, _ response: HTTPResponse) -> Bool {
        let fields = response.headerFields
        let (old, new) = (stored.facts.validators, Validators(response))
        if fields.contains(.eTag), new.entityTag != old.entityTag { return false }
        if fields.contains(.lastModified), !new.haveSameModification(as: old) { return false }
        guard let length = fields[.contentLength] else { return true }
        return length == stored.head.headerFields[.contentLength] ?? String(stored.totalSize)
    }
}
