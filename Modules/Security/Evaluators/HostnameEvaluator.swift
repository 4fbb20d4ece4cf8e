internal import COpenSSL

/// Checks that the presented leaf is for the host, and nothing else: for use in an ``AllOfEvaluator``.
public struct HostnameEvaluator: TrustEvaluator {
    /// Makes an evaluator.
    public init() {}

    /// True: it refuses nothing that the system's store accepts.
    public var allowsCleartext: Bool { true }

    /// Compares the leaf's subject alternative names with the host (RFC 9525).
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        do {
            let chain = try ChainVerifier.parse(trust)
            guard try Self.matches(chain[0], trust) else { return .refused(Self.mismatch(chain[0], trust)) }
            return .accepted(VerifiedTrust(chain, isPinned: false, isAnchored: false))
        } catch {
            return .refused(error)
        }
    }

    private static func matches(_ leaf: X509Handle, _ trust: ServerTrust) throws(TrustRefusal) -> Bool {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        return switch HostName(trust.host) {
        case .name(let name):
            X509_check_host(leaf.pointer, name, name.utf8.count, ChainVerifier.hostFlags, nil) == 1
        case .address(let bytes): X509_check_ip(leaf.pointer, bytes, bytes.count, 0) == 1
        case nil: throw TrustRefusal.unusableHost(.hostnameMismatch, trust)
        }
    }

    private static func mismatch(_ leaf: X509Handle, _ trust: ServerTrust) -> TrustRefusal {
        let names = leaf.alternativeNames?.oneLine ?? "it names none"
        return TrustRefusal(
            .hostnameMismatch,
            "\(trust.host.oneLine): the certificate \"\(leaf.subject.oneLine)\" is for other hosts: \(names).",
            trust: trust, verifyCode: X509_V_ERR_HOSTNAME_MISMATCH, certificate: CertificateSummary(leaf))
    }
}
