internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

extension CacheRules {
    /// A head as it is stored: with Date, and without the fields that must not be stored (RFC 9111, section 3.1).
    func storedHead(_ response: HTTPResponse, receivedAt time: Date) -> HTTPResponse {
        var head = response
        let excepted = Self.connectionFields(of: response).union(exceptedFields(of: response))
        head.headerFields.removeAll { excepted.contains($0.name.canonicalName) }
        // A response without a valid date gets the one at which it was received (RFC 9110, section 6.6.1).
        if head.headerFields[values: .date].first.flatMap({ HTTPDate(caseInsensitive: $0) }) == nil {
            head.headerFields[.date] = HTTPDate(time).text
        }
        return head
    }

    /// The most fields that a stored head has after an update. Each newer response can bring as many as the transport
    /// allows, and `HTTPFields` terminates the process at 65,535.
    static let fieldLimit = 10_000

    /// A stored head with the fields of a newer response (section 3.2); nil if it would have more than ``fieldLimit`` fields.
    ///
    /// Content-Length, Content-Encoding and Content-Range describe the stored bytes, and stay. An Age that is not in the
    /// new response is dropped, since it was counted for the old one. A weak entity tag stays weak: the strong one with the same
    /// text can be that of other bytes, such as those before their compression.
    func updatedHead(_ stored: HTTPResponse, with response: HTTPResponse, receivedAt time: Date) -> HTTPResponse? {
        var kept = Self.contentFields
        if Self.confirmsWeakTag(of: stored, response) { kept.insert("etag") }
        let new = storedHead(response, receivedAt: time).headerFields.filter { !kept.contains($0.name.canonicalName) }
        let replaced = Set(new.map(\.name.canonicalName)).union(["age"]).union(exceptedFields(of: response))
        var head = stored
        head.headerFields.removeAll { replaced.contains($0.name.canonicalName) }
        guard head.headerFields.count + new.count <= Self.fieldLimit else { return nil }
        head.headerFields.append(contentsOf: new)
        return head
    }

    private static func confirmsWeakTag(of stored: HTTPResponse, _ response: HTTPResponse) -> Bool {
        guard let old = Validators(stored).entityTag, old.isWeak, let new = Validators(response).entityTag else {
            return false
        }
        return new.isEquivalent(to: old)
    }

    private static let contentFields: Set<String> = ["content-length", "content-encoding", "content-range"]

    /// Fields of a connection, a proxy or one request's authentication, Warning, which is obsolete (section 5.5), and Set-Cookie, which is
    /// for the request that it responds to.
    private static func connectionFields(of response: HTTPResponse) -> Set<String> {
        var names: Set<String> = [
            "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
            "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "authentication-info",
            "set-cookie", "warning",
        ]
        for value in response.headerFields[values: .connection] { names.formUnion(TokenList.names(value) ?? []) }
        return names.subtracting(governingFields)
    }

    /// Fields that the directives of a response except from storage (sections 5.2.2.4 and 5.2.2.7).
    private func exceptedFields(of response: HTTPResponse) -> Set<String> {
        let directives = CacheDirectives(response: response.headerFields)
        var names: Set<String> = []
        if case .fields(let listed)? = directives.noCache { names.formUnion(listed) }
        if isShared, case .fields(let listed)? = directives.isPrivate { names.formUnion(listed) }
        return names.subtracting(Self.governingFields)
    }

    /// Fields that the reuse of a response depends on. A response cannot except them, which would lift its own limits.
    private static let governingFields: Set<String> = ["age", "cache-control", "date", "expires", "vary"]
}
