extension TrustEvaluator where Self == SystemTrustEvaluator {
    /// The system's anchors, and the host: what browsers do.
    public static var systemTrust: SystemTrustEvaluator { SystemTrustEvaluator() }

    /// These anchors and no others, and the host.
    ///
    /// Fails with ``SecurityError/Code/noAnchors`` when there is none.
    public static func onlyAnchors(_ certificates: [Certificate]) throws(SecurityError) -> SystemTrustEvaluator {
        SystemTrustEvaluator(anchors: try .certificates(certificates))
    }

    /// The system's anchors and these in addition, and the host.
    ///
    /// Fails with ``SecurityError/Code/noAnchors`` when there is none.
    public static func additionalAnchors(_ certificates: [Certificate]) throws(SecurityError) -> SystemTrustEvaluator {
        SystemTrustEvaluator(anchors: try TrustAnchors.system.adding(certificates))
    }
}

extension TrustEvaluator where Self == AllOfEvaluator {
    /// What every one of them trusts; see ``AllOfEvaluator``.
    public static func allOf(_ first: any TrustEvaluator, _ others: any TrustEvaluator...) -> AllOfEvaluator {
        AllOfEvaluator(first, others)
    }
}

extension TrustEvaluator where Self == AnyOfEvaluator {
    /// What one of them trusts; see ``AnyOfEvaluator``.
    public static func anyOf(_ first: any TrustEvaluator, _ others: any TrustEvaluator...) -> AnyOfEvaluator {
        AnyOfEvaluator(first, others)
    }
}

extension TrustEvaluator where Self == RefusingEvaluator {
    /// Nobody.
    public static var refuse: RefusingEvaluator { RefusingEvaluator() }
}

extension TrustEvaluator where Self == PinSetEvaluator {
    /// Chains with a key of a set; see ``PinSetEvaluator``.
    ///
    /// Fails with ``SecurityError/Code/noPins`` when the set is empty.
    public static func pins(
        _ set: PinSet, anchors: TrustAnchors = .system
    ) throws(SecurityError) -> PinSetEvaluator {
        try PinSetEvaluator(set, anchors: anchors)
    }
}
