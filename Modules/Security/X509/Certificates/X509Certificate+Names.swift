internal import LinnetMessages

extension X509Certificate {
    /// The hosts and addresses that the certificate is for (RFC 5280, 4.2.1.6), as the certificate has them.
    package var hostNames: [String] {
        (handle.facts?.known.alternativeNames ?? []).compactMap { name in
            switch name {
            case .host(let bytes): String(decoding: bytes, as: UTF8.self)
            case .address(let bytes) where [4, 16].contains(bytes.count): HostName.address(bytes).text
            default: nil
            }
        }
    }

    /// The kind of the key with the size of an RSA key, such as `P-256` or `RSA 2048`; nil if it is unknown.
    package var keyDescription: String? {
        guard let key = handle.facts?.key, let kind = key.kind else { return nil }
        return key.rsa.map { "\(kind) \($0.modulusBits)" } ?? "\(kind)"
    }
}
