package import LinnetSecurity

extension TrustRefusal {
    /// What to do about it.
    ///
    /// - Parameter anchorsOption: Where a file with an authority of one's own is named, such as "as --cacert".
    package func advice(anchorsOption: String) -> String {
        switch reason {
        case .pinMismatch:
            "Nothing was sent. Give a seen pin as --pin only if you know from elsewhere that the key is the server's."
        case .unknownAuthority, .selfSigned:
            "Nothing was sent. Name a file with the server's authority \(anchorsOption) if you trust it."
        case .expired: "Nothing was sent. The server needs a new certificate; check this machine's clock, too."
        case .hostnameMismatch: "Nothing was sent. Use a host name that the certificate is for."
        default: "Nothing was sent."
        }
    }
}
