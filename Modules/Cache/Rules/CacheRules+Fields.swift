internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

extension CacheRules {
    /// A head for storage: with Date, and without fields that must not be stored (RFC 9111, section 3.1).
    func storedHead(_ response: HTTPResponse, receivedAt time: Date) -> HTTPResponse {
        var head = response
        let excepted = Self.connectionFields(of: response).union(exceptedFields(of: response))
        head.headerFields.removeAll { excepted.contains($0.name.canonicalName) }
        // Without a valid date, the time of reception takes its place (RFC 9110, section 6.6.1).
        if head.headerFields[values: .date].first.flatMap({ HTTPDate(caseInsensitive: $0) }) == nil {
            head.headerFields[.date] = HTTPDate(time).text
        }
        return head
    }

    /// The largest number of fields in a stored head after updates. Each newer response can add as many as the
    /// transport allows, and `HTTPFields` terminates the process at 65,535.
    static let fieldLimit = 10_000

    /// A stored head with the fields of a newer response (section 3.2); nil if it would have more than ``fieldLimit``
    /// fields.
    ///
    /// Content-Length, Content-Encoding and Content-Range describe the stored bytes, and stay. An Age that the new
    /// response lacks is dropped, since it was counted for the old one. A weak entity tag stays weak: the strong tag
    /// with the same text may belong to other bytes, for example before their compression.
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

    /// The fields that are never stored: fields of a connection, a proxy or one request's authentication, the obsolete
    /// Warning (section 5.5), and Set-Cookie, which concerns only the request that it answers.
    private static func connectionFields(of response: HTTPResponse) -> Set<String> {
        var names: Set<String> = [
            "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
            "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "authentication-info",
            "set-cookie", "warning",
        ]
        for value in response.headerFields[values: .connection] { names.formUnion(TokenList.names(value) ?? []) }
        return names.subtracting(governingFields)
    }

    /// The fields that the directives of a response exclude from storage (sections 5.2.2.4 and 5.2.2.7).
    private func exceptedFields(of response: HTTPResponse) -> Set<String> {
        let directives = CacheDirectives(response: response.headerFields)
        var names: Set<String> = []
        if case .fields(let listed)? = directives.noCache { names.formUnion(listed) }
        if isShared, case .fields(let listed)? = directives.isPrivate { names.formUnion(listed) }
        return names.subtracting(Self.governingFields)
    }

    /// The fields that govern the reuse of a response. Directives cannot exclude them, because the response would lift
    /// its own limits.
    private static let governingFields: Set<String> = ["age", "cache-control", "date", "expires", "vary"]
}
