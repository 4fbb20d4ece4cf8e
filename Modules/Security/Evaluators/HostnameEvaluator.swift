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
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS) | UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        return switch HostIdentity(host) {
        case .address(let bytes): X509_check_ip(leaf.pointer, bytes, bytes.count, 0) == 1
        case .name(let name): X509_check_host(leaf.pointer, name, name.utf8.count, flags, nil) == 1
        case nil: false
        }
    }
}
