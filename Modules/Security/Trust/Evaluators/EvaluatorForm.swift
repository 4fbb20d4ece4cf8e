/// The checks of an evaluator of this module, as data, for code that shows or stores them.
package enum EvaluatorForm {
    /// How an evaluator builds a chain.
    package struct Chain {
        package let anchors: TrustAnchors
        package let profile: ChainProfile
        package let validatesHost: Bool

        fileprivate init(_ verifier: ChainVerifier) {
            anchors = verifier.anchors
            profile = verifier.profile
            validatesHost = verifier.validatesHost
        }
    }

    /// A chain without pins.
    case chain(Chain)
    /// A chain with pinned keys.
    case pins(PinSet, Chain)
    /// A chain with pinned certificates.
    case certificatePins([X509Certificate], PinSet.Position, Chain)
    /// The semantics of AFNetworking's `AFSecurityPolicy`.
    case pinningMode(
        PinningMode, [X509Certificate], anchors: TrustAnchors, allowsInvalid: Bool, validatesHost: Bool)
    /// A certificate for the host, without a chain.
    case hostname
    /// No certificate.
    case refusal
    /// Any certificate.
    case anyCertificate
    /// An evaluator whose hosts may also be sent requests in clear text.
    case cleartext(any TrustEvaluator)
    /// An evaluator whose refusals are only reported, and the one that is enforced.
    case reportOnly(any TrustEvaluator, enforced: any TrustEvaluator)
    case allOf([any TrustEvaluator])
    case anyOf([any TrustEvaluator])
    /// An evaluator and a closure of the program's, which may refuse what it accepts.
    case closure(any TrustEvaluator)
}

/// An evaluator of this module.
private protocol FormedEvaluator: TrustEvaluator {
    var ownForm: EvaluatorForm? { get }
}

extension TrustEvaluator {
    /// The evaluator's checks; nil for a custom one.
    package var form: EvaluatorForm? { (self as? any FormedEvaluator)?.ownForm }
}

extension StandardTrustEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { evaluator.form }
}

// MARK: Evaluators that build a chain

extension AnchorEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .chain(EvaluatorForm.Chain(verifier)) }
}

extension PublicKeyPinEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? {
        .pins(PinSet(wanted, position: position), EvaluatorForm.Chain(verifier))
    }
}

extension PinSetEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .pins(set, EvaluatorForm.Chain(verifier)) }
}

extension CertificatePinEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? {
        .certificatePins(certificates, position, EvaluatorForm.Chain(verifier))
    }
}

extension PinningModeEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? {
        .pinningMode(
            mode, certificates, anchors: anchors, allowsInvalid: allowsInvalid, validatesHost: validatesHost)
    }
}

// MARK: Evaluators without a chain

extension HostnameEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .hostname }
}

extension RefusingEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .refusal }
}

extension InsecureEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .anyCertificate }
}

// MARK: Combinations

extension CleartextEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .cleartext(evaluator) }
}

extension ReportOnlyEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .reportOnly(observed, enforced: enforced) }
}

extension AllOfEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .allOf([first] + others) }
}

extension AnyOfEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .anyOf([first] + others) }
}

extension AppRefusalEvaluator: FormedEvaluator {
    fileprivate var ownForm: EvaluatorForm? { .closure(evaluator) }
}
