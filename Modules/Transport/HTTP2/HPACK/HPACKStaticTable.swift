/// The fields that both ends know from the start (RFC 7541, appendix A).
enum HPACKStaticTable {
    /// Its first line has the index 1.
    static let lines: [HTTP2FieldLine] = fields.map { name, value in
        var (name, value) = (name, value)
        return name.withUTF8 { name in
            value.withUTF8 { value in
                HTTP2FieldLine(
                    HTTP2FieldLine.Name(UnsafeRawBufferPointer(name)), nameLength: name.count,
                    value: UnsafeRawBufferPointer(value))
            }
        }
    }

    /// The first index of a name.
    static let indices: [String: Int] = Dictionary(
        fields.enumerated().map { ($1.name, $0 + 1) }, uniquingKeysWith: { first, _ in first })

    static let count = fields.count

    static let fields: [(name: String, value: String)] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
        ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
        ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
        ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
        ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
        ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
        ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
        ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]
}
