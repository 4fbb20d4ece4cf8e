internal import HTTPTypes
internal import NIOHTTP1

/// Turns a request's head into what goes on the wire, and refuses what must not go there.
enum HTTP1RequestHead {
    /// The head with `Host`, and with the framing of RFC 9112, 6: `Content-Length` where the length is known, chunked
    /// where it is not.
    static func make(_ request: TransportRequest) throws(TransportError) -> HTTPRequestHead {
        let head = request.head
        guard let authority = head.authority, !authority.isEmpty, authority.utf8.allSatisfy(isVisible) else {
            throw TransportError(
                .invalidRequest, "The request's authority is missing or has characters that it must not have.")
        }
        let path = head.path ?? "/"
        guard !path.isEmpty, path.utf8.allSatisfy(isVisible) else {
            throw TransportError(.invalidRequest, "The request's path has characters that must be percent-encoded.")
        }
        guard head.method != .connect else {
            throw TransportError(.invalidRequest, "CONNECT is for proxies alone.")
        }
        var fields: [(String, String)] = []
        fields.reserveCapacity(head.headerFields.count + 2)
        fields.append(("Host", authority))
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
            version: .http1_1, method: HTTPMethod(rawValue: head.method.rawValue), uri: path,
            headers: HTTPHeaders(fields))
    }

    private static func framing(_ request: TransportRequest) -> (String, String)? {
        switch request.body {
        case nil:
            // A method that is defined to have a body says that there is none (RFC 9110, 8.6).
            switch request.head.method {
            case .post, .put, .patch: ("Content-Length", "0")
            default: nil
            }
        case .some(let body):
            if let length = body.length {
                ("Content-Length", String(length))
            } else {
                ("Transfer-Encoding", "chunked")
            }
        }
    }

    private static func isVisible(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F
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
