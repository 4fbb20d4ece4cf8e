package import HTTPTypes

// The names are valid, so the defaults are never used.
extension HTTPField.Name {
    /// The digest of a message's content (RFC 9530, section 2).
    package static let contentDigest = HTTPField.Name("Content-Digest") ?? .ifMatch
    /// The signatures of a message (RFC 9421, section 4.2).
    package static let signature = HTTPField.Name("Signature") ?? .ifMatch
    /// The components that the signatures of a message cover (RFC 9421, section 4.1).
    package static let signatureInput = HTTPField.Name("Signature-Input") ?? .ifMatch
}
