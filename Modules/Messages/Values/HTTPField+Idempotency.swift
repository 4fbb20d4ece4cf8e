package import HTTPTypes

extension HTTPField.Name {
    /// Identifies a request, so that a server performs it once though it arrives several times
    /// (draft-ietf-httpapi-idempotency-key-header).
    // The name is valid, so the default is never used.
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .ifMatch
}

extension HTTPRequest {
    /// Whether the request may be sent again although a server may have performed it: its method is idempotent (RFC
    /// 9110, section 9.2.2), or it has an Idempotency-Key.
    package var isIdempotent: Bool {
        switch method {
        case .get, .head, .options, .trace, .put, .delete: true
        default: headerFields.contains(.idempotencyKey)
        }
    }
}
