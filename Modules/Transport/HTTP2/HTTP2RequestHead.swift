internal import HTTPTypes
internal import NIOHPACK

/// Turns a request's head into a field section (RFC 9113, 8.3.1), and refuses what must not go there.
enum HTTP2RequestHead {
    static func make(_ request: TransportRequest) throws(TransportError) -> HPACKHeaders {
        let head = request.head
        let target = try RequestTarget(head)
        var headers = HPACKHeaders()
        headers.reserveCapacity(head.headerFields.count + 5)
        headers.add(name: ":method", value: head.method.rawValue)
        headers.add(name: ":scheme", value: head.scheme ?? "https")
        headers.add(name: ":authority", value: target.authority)
        headers.add(name: ":path", value: target.path, indexing: .nonIndexable)
        let nominated = connectionOptions(head.headerFields)
        for field in head.headerFields {
            let name = field.name.canonicalName
            guard belongs(name, field.value), !nominated.contains(name) else { continue }
            headers.add(name: name, value: field.value, indexing: indexing(name, field.value))
        }
        if let length = request.contentLength {
            headers.add(name: "content-length", value: String(length), indexing: .nonIndexable)
        }
        return headers
    }

    /// Whether a field may go out: none that belongs to a connection of HTTP/1.1 (RFC 9113, 8.2.2), none that the
    /// transport writes.
    private static func belongs(_ name: String, _ value: String) -> Bool {
        switch name {
        case "host", "content-length", "transfer-encoding", "upgrade", "connection", "keep-alive", "proxy-connection",
            "http2-settings":
            false
        case "te":
            value.lowercased() == "trailers"
        default:
            true
        }
    }

    /// The fields that `Connection` names.
    private static func connectionOptions(_ fields: HTTPFields) -> Set<String> {
        guard fields.contains(.connection) else { return [] }
        let names = fields[values: .connection].flatMap { $0.split(separator: ",") }
        return Set(names.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() })
    }

    /// Secrets stay out of the compression's tables (RFC 7541, 7.1.3); what differs each time would only fill them.
    private static func indexing(_ name: String, _ value: String) -> HPACKIndexing {
        switch name {
        case "authorization", "proxy-authorization":
            .neverIndexed
        case "cookie" where value.utf8.count < 20:
            .neverIndexed
        case "range", "if-range", "if-none-match", "if-modified-since", "date", "etag":
            .nonIndexable
        default:
            .indexable
        }
    }
}
