internal import COpenSSL
internal import FoundationEssentials
internal import LinnetMessages

/// Checks that the presented leaf matches the host.
struct HostnameEvaluator: TrustEvaluator {
    /// The check refuses no host that the system's store accepts.
    var allowsCleartext: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        do {
            let chain = try ChainVerifier.parse(trust)
            guard try Self.matches(chain[0], trust) else { return .refused(Self.mismatch(chain[0], trust)) }
            var verified = VerifiedTrust(chain, isPinned: false, isAnchored: false)
            verified.isHostValidated = true
            return .accepted(verified)
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
        let names = leaf.alternativeNames?.oneLine ?? "no host"
        return TrustRefusal(
            .hostnameMismatch,
            "\(trust.host.oneLine): the certificate \"\(leaf.subject.oneLine)\" does not match the host; it is for: "
                + "\(names).",
            trust: trust, verifyCode: X509_V_ERR_HOSTNAME_MISMATCH, certificate: CertificateSummary(leaf))
    }
}

/// Refuses every chain.
struct RefusingEvaluator: TrustEvaluator {
    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        .refused(TrustRefusal(.hostRefused, "\(trust.host.oneLine): the policy refuses this host.", trust: trust))
    }
}

/// Accepts every chain.
struct InsecureEvaluator: TrustEvaluator {
    var allowsCleartext: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        // A chain that exceeds the limits is accepted without being parsed.
        let pins = (try? ChainVerifier.parse(trust))?.map(\.pin) ?? []
        var verified = VerifiedTrust(
            chain: trust.presentedChain, pins: pins, isPinned: false, validUntil: .distantFuture)
        verified.awaitsStaple = false
        return .accepted(verified)
    }
}

/// Evaluates as another evaluator does, and allows clear text.
struct CleartextEvaluator: TrustEvaluator {
    let evaluator: any TrustEvaluator

    var isPinning: Bool { evaluator.isPinning }
    var allowsCleartext: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision { await evaluator.evaluate(trust) }
}
