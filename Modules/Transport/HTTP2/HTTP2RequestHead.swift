internal import HTTPTypes
internal import NIOHPACK

/// Turns a request's head into a field section (RFC 9113, 8.3.1), and refuses what must not go there.
enum HTTP2RequestHead {
    /// NIO's framing puts a head into one frame and ends the connection when that is too small: `frameSize` is the most
    /// that the server takes.
    static func make(_ request: TransportRequest, frameSize: Int = 16_384) throws(TransportError) -> HPACKHeaders {
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
        guard fits(headers, frameSize) else {
            throw TransportError(.invalidRequest, "The request's head does not fit into \(frameSize) bytes.")
        }
        return headers
    }

    /// Whether the fields surely fit, however little of them is in the tables. The exact sum is for long heads alone.
    private static func fits(_ headers: HPACKHeaders, _ size: Int) -> Bool {
        let frames = 12 * headers.count
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        if 4 * bytes + frames <= size { return true }
        return headers.reduce(frames) { $0 + huffmanBound($1.name) + huffmanBound($1.value) } <= size
    }

    /// No code is longer than 30 bits, none of ASCII's visible characters than 19, none of the frequent ones than 8
    /// (RFC 7541, appendix B).
    private static func huffmanBound(_ text: String) -> Int {
        text.utf8.reduce(0) { sum, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "%"),
                UInt8(ascii: " "), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "&"):
                sum + 1
            case 0x20..<0x7F:
                sum + 3
            default:
                sum + 4
            }
        }
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
