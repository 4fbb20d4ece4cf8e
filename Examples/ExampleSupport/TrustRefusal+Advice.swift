package import LinnetSecurity

extension TrustRefusal {
    /// Advice for the user of a command-line tool.
    ///
    /// - Parameter anchorsOption: How a file with additional authorities is specified, such as "as --cacert".
    package func advice(anchorsOption: String) -> String {
        switch reason {
        case .pinMismatch:
            "Nothing was sent. Specify a seen pin as --pin only if another source confirms that the key is the server's."
        case .unknownAuthority, .selfSigned:
            "Nothing was sent. Specify a file with the server's authority \(anchorsOption) if you trust it."
        case .expired: "Nothing was sent. The server needs a new certificate, or the clock of this machine is wrong."
        case .hostnameMismatch: "Nothing was sent. Use a host name that the certificate contains."
        default: "Nothing was sent."
        }
    }
}
