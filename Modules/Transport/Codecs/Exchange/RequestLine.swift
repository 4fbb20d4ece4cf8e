internal import HTTPTypes

/// The authority and path of a request, for every HTTP version.
struct RequestLine {
    let authority: String
    let path: String

    /// Rejects characters that must not be sent.
    init(_ head: HTTPRequest) throws(TransportError) {
        guard let authority = head.authority, Self.isVisible(authority) else {
            throw TransportError(
                .invalidRequest, "The request's authority is missing or contains invalid characters.")
        }
        let path = head.path ?? "/"
        guard Self.isVisible(path) else {
            throw TransportError(
                .invalidRequest, "The request's path contains characters that must be percent-encoded.")
        }
        guard head.method != .connect else {
            throw TransportError(.invalidRequest, "The method CONNECT is not supported; it is for proxies only.")
        }
        self.authority = authority
        self.path = path
    }

    // A space or a line end would begin another part of the head, or another request.
    private static func isVisible(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { !$0.isEmpty && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
    }
}

extension TransportRequestBody? {
    /// Whether there is a body that is not known to be empty.
    var hasContent: Bool { map { $0.length != 0 } ?? false }

    /// The value of `Content-Length`: the length of the body, or zero for a method that is defined to have a body but
    /// has none (RFC 9110, 8.6); nil if the field is not sent.
    func contentLength(for method: HTTPRequest.Method) -> Int64? {
        guard let body = self else {
            switch method {
            case .post, .put, .patch: return 0
            default: return nil
            }
        }
        return body.length
    }
}
