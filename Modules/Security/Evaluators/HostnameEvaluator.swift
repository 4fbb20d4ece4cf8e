internal import COpenSSL

/// Checks that the presented leaf is for the host, and nothing else: for use in an ``AllOfEvaluator``.
public struct HostnameEvaluator: TrustEvaluator {
    /// Makes an evaluator.
    public init() {}

    /// Compares the leaf's subject alternative names with the host (RFC 9525).
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        do {
            let chain = try ChainVerifier.parse(trust)
            guard Self.matches(chain[0], trust.host) else {
                let leaf = CertificateSummary(chain[0])
                return .refused(
                    TrustRefusal(
                        .hostnameMismatch, "\(trust.host): the certificate \"\(leaf.subject)\" is for other hosts.",
                        trust: trust, verifyCode: X509_V_ERR_HOSTNAME_MISMATCH, certificate: leaf))
            }
            return .accepted(VerifiedTrust(chain, isPinned: false))
        } catch {
            return .refused(error)
        }
    }

    private static func matches(_ leaf: X509Handle, _ host: String) -> Bool {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard !host.isEmpty, !host.utf8.contains(0) else { return false }
        let address = X509_check_ip_asc(leaf.pointer, host, 0)
        // -2: not an address.
        if address != -2 { return address == 1 }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS) | UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        return X509_check_host(leaf.pointer, name, name.utf8.count, flags, nil) == 1
    }
}
