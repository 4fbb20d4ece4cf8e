internal import COpenSSL
internal import LinnetSecurity

/// Gives the algorithms of ``TLSOptions`` to OpenSSL, which takes lists with names that it does not know: such a name is a
/// mistake, and refused here.
struct TLSAlgorithms {
    let options: TLSOptions

    /// For an `SSL_CTX` that no connection uses yet.
    func apply(to context: OpaquePointer) throws(TransportError) {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        try applyCipherList(to: context)
        if let suites = options.cipherSuites {
            try check("cipherSuites", suites, SSL_CTX_set_ciphersuites(context, suites) == 1)
            try requireAll(suites, of: context)
        }
        if let groups = options.groups {
            try check("groups", groups, linnet_SSL_CTX_set1_groups_list(context, groups) == 1)
        }
        if let algorithms = options.signatureAlgorithms {
            try check(
                "signatureAlgorithms", algorithms, linnet_SSL_CTX_set1_sigalgs_list(context, algorithms) == 1)
        }
        try requireProtection(context)
    }

    private func applyCipherList(to context: OpaquePointer) throws(TransportError) {
        let list = options.cipherList ?? "ECDHE+AESGCM:ECDHE+CHACHA20"
        // Each by itself first, since one that is known makes OpenSSL forgive those that are not.
        for name in Self.names(list) where !"!-+@".contains(name.prefix(1)) {
            try check("cipherList", name, SSL_CTX_set_cipher_list(context, name) == 1)
        }
        try check("cipherList", list, SSL_CTX_set_cipher_list(context, list) == 1)
    }

    private func requireAll(_ suites: String, of context: OpaquePointer) throws(TransportError) {
        let known = Set(Self.ciphers(context).map { String(cString: SSL_CIPHER_get_name($0)) })
        for name in Self.names(suites) {
            try check("cipherSuites", name, known.contains(name))
        }
    }

    /// No encryption, or nobody who is authenticated, is not TLS as it is meant here.
    private func requireProtection(_ context: OpaquePointer) throws(TransportError) {
        for cipher in Self.ciphers(context) {
            let authentication = SSL_CIPHER_get_auth_nid(cipher)
            guard SSL_CIPHER_get_bits(cipher, nil) > 0, authentication != NID_auth_null else {
                let name = SSL_CIPHER_get_name(cipher).map { String(cString: $0) } ?? "one"
                throw TransportError(
                    .invalidConfiguration,
                    "The cipher suite \(name) does not encrypt, or authenticates nobody: leave it out of cipherList.")
            }
        }
    }

    private func check(_ option: String, _ value: String, _ isTaken: Bool) throws(TransportError) {
        guard !isTaken else { return }
        throw TransportError(
            .invalidConfiguration,
            "OpenSSL refuses \"\(value)\" as \(option): \(OpenSSLErrorQueue.drain().summary).")
    }

    private static func names(_ list: String) -> [String] {
        list.split { ": ,".contains($0) }.map(String.init)
    }

    private static func ciphers(_ context: OpaquePointer) -> [OpaquePointer] {
        guard let stack = SSL_CTX_get_ciphers(context) else { return [] }
        return (0..<max(0, linnet_sk_SSL_CIPHER_num(stack))).compactMap { linnet_sk_SSL_CIPHER_value(stack, $0) }
    }
}
