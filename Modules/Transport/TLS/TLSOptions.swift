/// TLS versions, algorithms, resumption, and the log of keys.
///
/// All of it is tried when a transport is made: what the system's OpenSSL refuses, does not know, or would leave without
/// encryption or authentication is ``TransportError/Code/invalidConfiguration``, and no transport is made.
public struct TLSOptions: Sendable, Hashable {
    /// A protocol version.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// The lowest version. The default is TLS 1.2.
    public var minimumVersion: Version = .tls12
    /// The highest version. The default is TLS 1.3.
    public var maximumVersion: Version = .tls13
    /// Cipher suites of TLS 1.2 in OpenSSL's notation, such as `ECDHE-RSA-AES128-GCM-SHA256:ECDHE+CHACHA20`, or nil for
    /// Linnet's list: ECDHE with AES-GCM or ChaCha20.
    public var cipherList: String?
    /// Cipher suites of TLS 1.3 in OpenSSL's notation, such as `TLS_AES_256_GCM_SHA384`, or nil for OpenSSL's list.
    public var cipherSuites: String?
    /// Groups for the key exchange (RFC 8446, 4.2.7) in OpenSSL's notation, such as `X25519:P-256`, the preferred first, or
    /// nil for OpenSSL's list.
    public var groups: String?
    /// Algorithms with which a server may sign (RFC 8446, 4.2.3) in OpenSSL's notation, such as
    /// `ECDSA+SHA256:ed25519:rsa_pss_rsae_sha256`, the preferred first, or nil for OpenSSL's list.
    public var signatureAlgorithms: String?
    /// Whether a connection may resume a TLS session of an earlier one to the same host and port, under the same security
    /// policy and as the same client, with the verdict on that one's chain (RFC 8446, 2.2; RFC 5077). The default is true.
    ///
    /// A session is kept for a day at most, and only as long as the verdict holds.
    /// ``TransportMetrics/isResumedTLSSession`` tells what came of it; `SecurityPolicy.allowsSessionResumption` switches
    /// it off for one policy. A request is never sent as early data (RFC 8446, 8).
    public var sessionResumption = true
    /// Where the keys of connections are written, so that a program such as Wireshark can read them; nil, the default, is
    /// nowhere. For looking into a problem alone: whoever has the log reads all that was sent.
    ///
    /// A line on standard error says so when the transport is made, and ``TransportMetrics/isKeyLogged`` for each attempt.
    public var keyLog: TLSKeyLog?

    /// The defaults.
    public init() {}
}

/// Where the keys of TLS connections are written, in the format of `SSLKEYLOGFILE`.
public struct TLSKeyLog: Sendable, Hashable {
    enum Place: Sendable, Hashable {
        case file(String)
        case environment
    }

    let place: Place

    /// To the end of this file, which is made for its owner alone where there is none.
    public static func insecureFile(_ path: String) -> TLSKeyLog { TLSKeyLog(place: .file(path)) }

    /// To the file that the environment variable `SSLKEYLOGFILE` names; nowhere when there is no such variable. The
    /// variable alone, without this option, does nothing.
    public static let insecureEnvironment = TLSKeyLog(place: .environment)
}
