/// A rule for the certificates of a chain, with the text that it comes from.
///
/// Rules look at the chain that OpenSSL has verified. Anchors are trusted as they are: only what weakens a signature made
/// with their key is looked at, and ``flawedAnchor``.
public struct ChainRule: Sendable, CaseIterable, CustomStringConvertible {
    /// Which profiles have a rule.
    enum Scope: Sendable {
        /// Every authority is bound by it: RFC 5280 or another says MUST, or what breaks it proves nothing.
        case anyAuthority
        /// Those of the web are: the Baseline Requirements say MUST, or RFC 5280 says SHOULD.
        case webAuthority
        /// It is enforced on wish.
        case none
    }

    /// The rule's name, which is also the refusal's reason.
    public let description: String
    /// Where the rule is written.
    public let citation: String
    /// What the rule asks for, in one sentence.
    public let requirement: String
    /// Whether ``ChainProfile/default`` has it, and so ``ChainProfile/strict``. Rules that neither has are enforced where
    /// ``ChainProfile/enforcing(_:)`` names them.
    public var isEnforcedByDefault: Bool { scope == .anyAuthority }
    let scope: Scope
    let positions: ChainLink.Position
    /// What is wrong, in words that go on after "the certificate"; nil when nothing is.
    let check: @Sendable (ChainLink) -> String?

    init(
        _ name: String, _ citation: String, _ requirement: String, _ positions: ChainLink.Position,
        scope: Scope = .anyAuthority, check: @escaping @Sendable (ChainLink) -> String?
    ) {
        description = name
        self.citation = citation
        self.requirement = requirement
        self.scope = scope
        self.positions = positions
        self.check = check
    }

    /// The reason with which a chain that breaks it is refused.
    public var reason: TrustRefusal.Reason { TrustRefusal.Reason(description) }

    /// All rules, in the order in which they are checked.
    public static let allCases: [ChainRule] =
        structure + extensions + usage + names + keys + signatures
        + anchors

    func applies(to position: ChainLink.Position) -> Bool { positions.contains(position) }
}

extension ChainRule: Hashable {
    /// Whether they are the same rule.
    public static func == (left: ChainRule, right: ChainRule) -> Bool { left.description == right.description }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
