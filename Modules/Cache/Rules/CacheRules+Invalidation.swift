package import HTTPTypes
internal import LinnetMessages

extension CacheRules {
    /// The keys that a response to an unsafe request invalidates (RFC 9111, section 4.4).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request.
    ///   - key: The key of the request's URL.
    /// - Returns: The key, and the keys of Location and Content-Location with the same origin; none if the method is
    ///   safe or the response is an error.
    package func invalidatedKeys(
        by response: HTTPResponse, to request: HTTPRequest, key: CacheKey
    ) -> [CacheKey] {
        guard !request.method.isKnownSafe, 200..<400 ~= response.status.code else { return [] }
        var keys = [key]
        for name in [HTTPField.Name.location, .contentLocation] {
            // Entries of other origins stay, which any server could otherwise remove (section 4.4).
            guard let reference = response.headerFields[fields: name].first?.uriReference,
                let other = key.sameOriginKey(reference), !keys.contains(other)
            else { continue }
            keys.append(other)
        }
        return keys
    }

    /// The stored responses that a new response supersedes, whether or not it is stored itself: all that match the
    /// request. A refusal, such as 401 or 503, supersedes none.
    package func superseded(
        by response: HTTPResponse, to request: HTTPRequest, among stored: [StoredResponse]
    ) -> [StoredResponse.ID] {
        guard request.method == .get else { return [] }
        switch response.status.code {
        // Not 304, which confirms a stored response.
        case 200..<300, 300..<304, 305..<400, 404, 410: break
        default: return []
        }
        // A part leaves other parts of the same representation valid.
        let new = Validators(response)
        let isPart = response.status.code == 206
        return stored.filter { candidate in
            candidate.variant.matches(request) && !(isPart && new.haveSameStrong(as: candidate.facts.validators))
        }
        .map(\.id)
    }
}

extension HTTPRequest.Method {
    /// Whether the registry lists the method as safe. All others count as unsafe (section 4.4).
    fileprivate var isKnownSafe: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH", "PRI"].contains(rawValue)
    }
}
