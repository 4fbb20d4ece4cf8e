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
        for field in head.headerFields where belongs(field) && !nominated.contains(field.name.canonicalName) {
            guard field.withUnsafeBytesOfValue({ UnsafeRawBufferPointer($0).holdsFieldBytesAlone }) else {
                throw TransportError(.invalidRequest, "A field's value has characters that it must not have.")
            }
            lines.append(Line(name: field.name.canonicalName, value: field.value, indexing: indexing(field)))
        }
        if let length = request.contentLength {
            lines.append(Line(name: "content-length", value: String(length), indexing: .notIndexed))
        }
        return lines
    }

    /// Whether a field may go out: none that belongs to a connection of HTTP/1.1 (RFC 9113, 8.2.2), none that the
    /// transport writes.
    private static func belongs(_ field: HTTPField) -> Bool {
        if field.name.has("te") { return field.value.lowercased() == "trailers" }
        return !transportFields.contains(field.name)
    }

    /// The fields that `Connection` names.
    private static func connectionOptions(_ fields: HTTPFields) -> Set<String> {
        var options: Set<String> = []
        for field in fields where field.name.has("connection") {
            for option in field.value.split(separator: ",") {
                options.insert(option.filter { $0 != " " && $0 != "\t" }.lowercased())
            }
        }
        return options
    }

    /// Secrets stay out of the compression's tables (RFC 7541, 7.1.3); what differs each time would only fill them.
    private static func indexing(_ field: HTTPField) -> HTTP2FieldEncoder.Indexing {
        if secrets.contains(field.name) { return .neverIndexed }
        if field.name.has("cookie"), field.withUnsafeBytesOfValue({ $0.count < 20 }) { return .neverIndexed }
        return changing.contains(field.name) ? .notIndexed : .indexed
    }

    private static let transportFields = NameSet([
        "host", "content-length", "transfer-encoding", "upgrade", "connection", "keep-alive", "proxy-connection",
        "http2-settings",
    ])
    private static let secrets = NameSet(["authorization", "proxy-authorization"])
    private static let changing = NameSet([
        "range", "if-range", "if-none-match", "if-modified-since", "date", "etag",
    ])
}

/// A few names of fields, most of which are told from others by their length.
private struct NameSet {
    private let names: [String]
    /// A bit for each length.
    private let lengths: UInt64

    /// Names in lower case of less than 64 bytes.
    init(_ names: [String]) {
        self.names = names
        lengths = names.reduce(0) { $0 | 1 << UInt64($1.utf8.count) }
    }

    func contains(_ name: HTTPField.Name) -> Bool {
        let length = name.canonicalName.utf8.count
        return length < 64 && lengths >> UInt64(length) & 1 == 1 && names.contains(name.canonicalName)
    }
}
