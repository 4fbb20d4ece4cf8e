/// What a certificate shall say.
struct CertificateRequest {
    enum Kind {
        case authority(pathLength: Int)
        case server
        case client
        case responder
    }

    var commonName: String
    var kind: Kind
    var hosts: [String] = []
    var addresses: [String] = []
    var validity = TestPKI.Validity.current
    var key = TestPKI.KeyKind.p256
    var promisesStaple = false

    init(commonName: String, kind: Kind) {
        self.commonName = commonName
        self.kind = kind
    }

    init(_ options: TestPKI.Options) {
        // A common name is bounded (RFC 5280, appendix A.1); a host is not bound by that, and then there is none.
        let name = options.commonName ?? options.hosts.first ?? options.addresses.first ?? "nobody"
        commonName = name.utf8.count > 64 ? "" : name
        kind = options.isForClients ? .client : .server
        hosts = options.hosts
        addresses = options.addresses
        validity = options.validity
        key = options.key
        promisesStaple = options.promisesStaple
    }

    /// X.509 extensions in OpenSSL's notation.
    var extensions: [(name: String, value: String)] {
        var extensions: [(String, String)] = [("subjectKeyIdentifier", "hash")]
        switch kind {
        case .authority(let pathLength):
            extensions.append(("basicConstraints", "critical,CA:TRUE,pathlen:\(pathLength)"))
            extensions.append(("keyUsage", "critical,keyCertSign,cRLSign"))
        case .server:
            let isRSA = key == .rsa1024 || key == .rsa2048
            extensions.append(("basicConstraints", "critical,CA:FALSE"))
            extensions.append(("keyUsage", "critical,digitalSignature" + (isRSA ? ",keyEncipherment" : "")))
            extensions.append(("extendedKeyUsage", "serverAuth"))
        case .client:
            extensions.append(("basicConstraints", "critical,CA:FALSE"))
            extensions.append(("keyUsage", "critical,digitalSignature"))
            extensions.append(("extendedKeyUsage", "clientAuth"))
        case .responder:
            extensions.append(("basicConstraints", "critical,CA:FALSE"))
            extensions.append(("keyUsage", "critical,digitalSignature"))
            extensions.append(("extendedKeyUsage", "OCSPSigning"))
        }
        let names = hosts.map { "DNS:" + $0 } + addresses.map { "IP:" + $0 }
        if !names.isEmpty {
            // Critical where there is no other name (RFC 5280, 4.2.1.6).
            extensions.append(
                ("subjectAltName", (commonName.isEmpty ? "critical," : "") + names.joined(separator: ",")))
        }
        if promisesStaple { extensions.append(("tlsfeature", "status_request")) }
        return extensions
    }
}
