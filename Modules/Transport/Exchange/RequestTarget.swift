internal import HTTPTypes

/// What a request is sent to, in the terms of every HTTP version.
struct RequestTarget {
    let authority: String
    let path: String

    /// Refuses what must not go on the wire.
    init(_ head: HTTPRequest) throws(TransportError) {
        guard let authority = head.authority, Self.isVisible(authority) else {
            throw TransportError(
                .invalidRequest, "The request's authority is missing or has characters that it must not have.")
        }
        let path = head.path ?? "/"
        guard Self.isVisible(path) else {
            throw TransportError(.invalidRequest, "The request's path has characters that must be percent-encoded.")
        }
        guard head.method != .connect else {
            throw TransportError(.invalidRequest, "CONNECT is for proxies alone.")
        }
        self.authority = authority
        self.path = path
    }

    private static func isVisible(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { !$0.isEmpty && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
    }
}

extension TransportRequest {
    /// What `Content-Length` says: the body's length, or zero where a method that is defined to have a body has none
    /// (RFC 9110, 8.6); nil where it says nothing.
    var contentLength: Int64? {
        guard let body else {
            switch head.method {
            case .post, .put, .patch: return 0
            default: return nil
            }
        }
        return body.length
    }
}
