internal import HTTPTypes
internal import NIOHTTP1

/// Turns a request's head into what goes on the wire, and refuses what must not go there.
enum HTTP1RequestHead {
    /// The head with `Host`, and with the framing of RFC 9112, 6: `Content-Length` where the length is known, chunked
    /// where it is not.
    static func make(_ request: TransportRequest) throws(TransportError) -> HTTPRequestHead {
        let head = request.head
        let target = try RequestTarget(head)
        var fields: [(String, String)] = []
        fields.reserveCapacity(head.headerFields.count + 2)
        fields.append(("Host", target.authority))
        for field in head.headerFields {
            switch field.name.canonicalName {
            case "host", "content-length", "transfer-encoding", "upgrade":
                continue
            default:
                fields.append((field.name.rawName, field.value))
            }
        }
        if let framing = framing(request) { fields.append(framing) }
        return HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: head.method.rawValue), uri: target.path,
            headers: HTTPHeaders(fields))
    }

    private static func framing(_ request: TransportRequest) -> (String, String)? {
        if let length = request.contentLength { return ("Content-Length", String(length)) }
        return request.body == nil ? nil : ("Transfer-Encoding", "chunked")
    }
}

extension HTTPResponse {
    /// A head as it came; a field whose name is no token is dropped.
    init(_ head: HTTPResponseHead) {
        self.init(status: Status(code: Int(head.status.code), reasonPhrase: head.status.reasonPhrase))
        headerFields = HTTPFields(head.headers)
    }
}

extension HTTPFields {
    init(_ headers: HTTPHeaders) {
        self.init()
        reserveCapacity(headers.count)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
