package import HTTPTypes
internal import LinnetMessages

extension CacheRules {
    /// The keys whose stored responses a response to an unsafe request invalidates (RFC 9111, section 4.4).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request.
    ///   - key: The key of the request's URL.
    /// - Returns: The key, and those of Location and Content-Location with the same origin; none if the method is safe or the
    ///   response is an error.
    package func invalidatedKeys(
        by response: HTTPResponse, to request: HTTPRequest, key: CacheKey
    ) -> [CacheKey] {
        guard !request.method.isKnownSafe, 200..<400 ~= response.status.code else { return [] }
        var keys = [key]
        for name in [HTTPField.Name.location, .contentLocation] {
            guard let reference = response.headerFields[fields: name].first?.uriReference,
                let other = key.sameOriginKey(reference), !keys.contains(other)
            else { continue }
            keys.append(other)
        }
        return keys
    }

    /// The stored responses that a new response proves outdated, whether or not it is stored itself: those that the request
    /// matches. A refusal, such as 401 or 503, proves nothing.
    package func superseded(
        by response: HTTPResponse, to request: HTTPRequest, among stored: [StoredResponse]
    ) -> [StoredResponse.ID] {
        guard request.method == .get else { return [] }
        switch response.status.code {
        case 200..<300, 300..<304, 305..<400, 404, 410: break
        default: return []
        }
        // A part says nothing about others of the same representation.
        let new = Validators(response)
        let isPart = response.status.code == 206
        return stored.filter { candidate in
            candidate.variant.matches(request) && !(isPart && new.haveSameStrong(as: candidate.facts.validators))
        }
        .map(\.id)
    }
}

extension HTTPRequest.Method {
    /// Methods that the registry lists as safe. Others count as unsafe (section 4.4).
    fileprivate var isKnownSafe: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH", "PRI"].contains(rawValue)
    }
}
