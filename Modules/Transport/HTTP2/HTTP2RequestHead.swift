internal import HTTPTypes

/// Turns a request's head into a field section (RFC 9113, 8.3.1), and refuses what must not go there.
enum HTTP2RequestHead {
    typealias Line = HTTP2FieldEncoder.Line

    static func make(_ request: TransportRequest) throws(TransportError) -> [Line] {
        let head = request.head
        let target = try RequestTarget(head)
        var lines: [Line] = []
        lines.reserveCapacity(head.headerFields.count + 5)
        lines.append(Line(name: ":method", value: head.method.rawValue))
        lines.append(Line(name: ":scheme", value: head.scheme ?? "https"))
        lines.append(Line(name: ":authority", value: target.authority))
        lines.append(Line(name: ":path", value: target.path, indexing: .notIndexed))
        let nominated = connectionOptions(head.headerFields)
        for field in head.headerFields {
            let name = field.name.canonicalName
            guard belongs(name, field), !nominated.contains(name) else { continue }
            let value = field.value
            lines.append(Line(name: name, value: value, indexing: indexing(name, value)))
        }
        if let length = request.contentLength {
            lines.append(Line(name: "content-length", value: String(length), indexing: .notIndexed))
        }
        return lines
    }

    /// Whether a field may go out: none that belongs to a connection of HTTP/1.1 (RFC 9113, 8.2.2), none that the
    /// transport writes.
    private static func belongs(_ name: String, _ field: HTTPField) -> Bool {
        switch name {
        case "host", "content-length", "transfer-encoding", "upgrade", "connection", "keep-alive", "proxy-connection",
            "http2-settings":
            false
        case "te":
            field.value.lowercased() == "trailers"
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
    private static func indexing(_ name: String, _ value: String) -> HTTP2FieldEncoder.Indexing {
        switch name {
        case "authorization", "proxy-authorization":
            .neverIndexed
        case "cookie" where value.utf8.count < 20:
            .neverIndexed
        case "range", "if-range", "if-none-match", "if-modified-since", "date", "etag":
            .notIndexed
        default:
            .indexed
        }
    }
}
