/// The checks of an evaluator of this module.
///
/// ```swift
/// let pins = policy.evaluator(for: "api.example.com").settings?.pins ?? []
/// ```
///
/// Settings are read from an evaluator (``TrustEvaluator/settings``). `SecurityPolicyDocument` of LinnetSettings holds
/// a whole policy, with combinations of evaluators.
package struct TrustSettings: Sendable {
    /// The object of the comparison with the pins.
    package internal(set) var pinningMode = PinningMode.none
    /// The pinned keys, keys in use before their backups. With certificates and ``PinningMode/publicKey``, the keys of
    /// the certificates.
    package internal(set) var pins: [PublicKeyPin] = []
    /// The pinned certificates.
    package internal(set) var pinnedCertificates: [X509Certificate] = []
    /// The certificates of the verified chain that are compared.
    package internal(set) var pinPosition = PinSet.Position.anyInVerifiedChain
    /// When the pins expire; nil means never.
    package internal(set) var pinExpiry: PinSet.Expiry?
    /// The anchors that a chain may end at; nil for an evaluator that builds no chain.
    package internal(set) var anchors: TrustAnchors?
    /// How strictly the chain is evaluated; nil for an evaluator that builds no chain.
    package internal(set) var profile: ChainProfile?
    /// Whether a chain without a path to one of the ``anchors`` is accepted: this was set in
    /// ``SecurityPolicy/pinning(mode:certificates:allowInvalidCertificates:validatesDomainName:anchors:)``, or the
    /// evaluator builds no chain.
    package internal(set) var allowInvalidCertificates = false
    /// Whether the certificate has to match the host.
    package internal(set) var validatesDomainName = true
}

extension TrustEvaluator {
    /// The checks of the evaluator.
    ///
    /// Nil for custom evaluators, ``TrustEvaluator/refuse``, and the combinations `.allOf` and `.anyOf`. A report-only
    /// evaluator has the settings of the enforced one.
    package var settings: TrustSettings? { form.flatMap(TrustSettings.init) }
}

extension TrustSettings {
    private init(_ chain: EvaluatorForm.Chain) {
        (anchors, profile, validatesDomainName) = (chain.anchors, chain.profile, chain.validatesHost)
    }

    /// Nil for what settings cannot express.
    fileprivate init?(_ form: EvaluatorForm) {
        switch form {
        case .chain(let chain): self.init(chain)
        case .pins(let set, let chain):
            self.init(chain)
            pinningMode = .publicKey
            (pins, pinPosition, pinExpiry) = (set.all, set.position, set.expiry)
        case .certificatePins(let certificates, let position, let chain):
            self.init(chain)
            pinningMode = .certificate
            (pinnedCertificates, pinPosition) = (certificates, position)
        case .pinningMode(let mode, let certificates, let anchors, let allowsInvalid, let validatesHost):
            self.init(
                pinningMode: mode, pins: mode == .publicKey ? certificates.map(\.publicKeyPin) : [],
                pinnedCertificates: certificates, anchors: anchors, profile: .default,
                allowInvalidCertificates: allowsInvalid, validatesDomainName: validatesHost)
        case .hostname: self.init(allowInvalidCertificates: true)
        case .anyCertificate: self.init(allowInvalidCertificates: true, validatesDomainName: false)
        case .cleartext(let evaluator), .reportOnly(_, enforced: let evaluator), .closure(let evaluator):
            guard let settings = evaluator.settings else { return nil }
            self = settings
        case .refusal, .allOf, .anyOf: return nil
        }
    }
}
