internal import COpenSSL
internal import FoundationEssentials
internal import LinnetSecurity

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension TransportConfiguration {
    /// TLS versions, algorithms, resumption, and the log of keys.
    ///
    /// The options are checked when a transport is created: values that the system's OpenSSL refuses or does not know,
    /// and values that disable encryption or authentication, throw ``TransportError/Code/invalidConfiguration``.
    public struct TLS: Sendable, Hashable {
        /// A protocol version.
        public enum Version: Sendable, Hashable {
            /// TLS 1.2 (RFC 5246).
            case tls12
            /// TLS 1.3 (RFC 8446).
            case tls13
        }

        /// The minimum version. The default is TLS 1.2.
        public var minimumVersion: Version = .tls12
        /// The maximum version. The default is TLS 1.3.
        public var maximumVersion: Version = .tls13
        /// TLS 1.2 cipher suites in OpenSSL's notation, such as `ECDHE-RSA-AES128-GCM-SHA256:ECDHE+CHACHA20`. Nil, the
        /// default, is ECDHE with AES-GCM or ChaCha20.
        public var cipherList: String?
        /// TLS 1.3 cipher suites in OpenSSL's notation, such as `TLS_AES_256_GCM_SHA384`. Nil, the default, is
        /// OpenSSL's list.
        public var cipherSuites: String?
        /// Key exchange groups (RFC 8446, 4.2.7) in OpenSSL's notation and in order of preference, such as
        /// `X25519:P-256`. Nil, the default, is OpenSSL's list.
        public var groups: String?
        /// Signature algorithms for servers (RFC 8446, 4.2.3) in OpenSSL's notation and in order of preference, such as
        /// `ECDSA+SHA256:ed25519:rsa_pss_rsae_sha256`. Nil, the default, is OpenSSL's list.
        public var signatureAlgorithms: String?
        /// Whether a connection may resume a TLS session of an earlier one to the same host and port through the same
        /// proxy, under the same security policy and client identity, based on the earlier trust decision (RFC 8446,
        /// 2.2; RFC 5077). The default is true.
        ///
        /// Sessions are kept for at most a day, and only as long as the decision is valid. A session is not kept if its
        /// ticket and the server's chain have more than 16 KiB together. ``TransportMetrics/isResumedTLSSession``
        /// reports the result; `SecurityPolicy.allowsSessionResumption` disables it for one policy. Requests are never
        /// sent as early data (RFC 8446, 8).
        public var sessionResumption = true
        /// The destination of a log of connection keys for programs such as Wireshark; nil, the default, disables it.
        /// For debugging only: the log allows decrypting all traffic.
        ///
        /// A warning is printed to standard error when the transport is created, and ``TransportMetrics/isKeyLogged``
        /// reports it for each attempt.
        public var keyLog: KeyLog?

        /// The defaults.
        public init() {}
    }
}

extension TransportConfiguration.TLS {
    /// A log of TLS connection keys in the format of `SSLKEYLOGFILE`.
    public struct KeyLog: Sendable, Hashable {
        enum Place: Sendable, Hashable {
            case file(String)
            case environment
        }

        let place: Place

        /// Appends to this file, which is created with access for its owner only.
        public static func insecureFile(_ path: String) -> KeyLog { KeyLog(place: .file(path)) }

        /// Appends to the file named by the environment variable `SSLKEYLOGFILE`; does nothing without it. The variable
        /// has no effect without this option.
        public static let insecureEnvironment = KeyLog(place: .environment)
    }
}

/// Passes the algorithms of ``TransportConfiguration/TLS`` to OpenSSL. OpenSSL ignores unknown names in lists; they are
/// rejected here.
struct TLSAlgorithms {
    let options: TransportConfiguration.TLS

    /// Applies the options to an `SSL_CTX` that is not in use yet.
    func apply(to context: OpaquePointer) throws(TransportError) {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        try requireNames()
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

    /// Rejects lists without a name: some versions of OpenSSL refuse them, others ignore them or treat them as empty.
    private func requireNames() throws(TransportError) {
        for (option, list) in [
            ("cipherList", options.cipherList), ("cipherSuites", options.cipherSuites), ("groups", options.groups),
            ("signatureAlgorithms", options.signatureAlgorithms),
        ] {
            guard let list, Self.names(list).isEmpty else { continue }
            throw TransportError(
                .invalidConfiguration, "\(option) names nothing; set it to nil for the default, or name one at least.")
        }
    }

    private func applyCipherList(to context: OpaquePointer) throws(TransportError) {
        let list = options.cipherList ?? "ECDHE+AESGCM:ECDHE+CHACHA20"
        // Each name is checked by itself, since OpenSSL ignores unknown names next to a known one.
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

    /// Rejects cipher suites without encryption or authentication.
    private func requireProtection(_ context: OpaquePointer) throws(TransportError) {
        for cipher in Self.ciphers(context) {
            let authentication = SSL_CIPHER_get_auth_nid(cipher)
            guard SSL_CIPHER_get_bits(cipher, nil) > 0, authentication != NID_auth_null else {
                let name = SSL_CIPHER_get_name(cipher).map { String(cString: $0) } ?? "one"
                throw TransportError(
                    .invalidConfiguration,
                    "The cipher suite \(name) has no encryption or no authentication; remove it from cipherList.")
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

/// The file that connection keys are appended to, one per line.
final class TLSKeyLogFile: Sendable {
    private let descriptor: Int32

    /// Opens the file and reports it on standard error; nil if the environment names none.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the log cannot be written.
    static func open(_ log: TransportConfiguration.TLS.KeyLog) throws(TransportError) -> TLSKeyLogFile? {
        switch log.place {
        case .file(let path): return try TLSKeyLogFile(path)
        case .environment:
            let path = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] ?? ""
            return path.isEmpty ? nil : try TLSKeyLogFile(path)
        }
    }

    private init(_ path: String) throws(TransportError) {
        descriptor = Self.openFile(path)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw TransportError(.invalidConfiguration, "The key log \"\(path)\" cannot be written: \(reason).")
        }
        Self.write(
            "linnet: warning: TLS keys are written to \(path); anyone who can read the file can decrypt the traffic.",
            to: 2)
    }

    deinit {
        close(descriptor)
    }

    /// Adds a line. Several event loops may do so concurrently, since appending is atomic.
    func write(_ line: String) {
        Self.write(line, to: descriptor)
    }

    private static func openFile(_ path: String) -> Int32 {
        #if canImport(Glibc)
        Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #elseif canImport(Musl)
        Musl.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #else
        Darwin.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #endif
    }

    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array((line + "\n").utf8)
        #if canImport(Glibc)
        _ = Glibc.write(descriptor, bytes, bytes.count)
        #elseif canImport(Musl)
        _ = Musl.write(descriptor, bytes, bytes.count)
        #else
        _ = Darwin.write(descriptor, bytes, bytes.count)
        #endif
    }
}
