/// A rule for the certificates of a chain, with the text that it comes from.
///
/// Rules look at the chain that OpenSSL has verified. Anchors are trusted as they are: only what weakens a signature made
/// with their key is looked at.
public struct ChainRule: Sendable, CaseIterable, CustomStringConvertible {
    /// The rule's name, which is also the refusal's reason.
    public let description: String
    /// Where the rule is written.
    public let citation: String
    /// What the rule asks for, in one sentence.
    public let requirement: String
    /// Whether ``ChainProfile/strict`` has it.
    public let isEnforcedByDefault: Bool
    let positions: ChainLink.Position
    /// What is wrong, in words that go on after "the certificate"; nil when nothing is.
    let check: @Sendable (ChainLink) -> String?

    init(
        _ name: String, _ citation: String, _ requirement: String, _ positions: ChainLink.Position,
        isEnforcedByDefault: Bool = true, check: @escaping @Sendable (ChainLink) -> String?
    ) {
        description = name
        self.citation = citation
        self.requirement = requirement
        self.isEnforcedByDefault = isEnforcedByDefault
        self.positions = positions
        self.check = check
    }

    /// The reason with which a chain that breaks it is refused.
    public var reason: TrustRefusal.Reason { TrustRefusal.Reason(description) }

    /// All rules, in the order in which they are checked.
    public static let allCases: [ChainRule] = structure + extensions + usage + names + keys + signatures

    func applies(to position: ChainLink.Position) -> Bool { positions.contains(position) }
}

extension ChainRule: Hashable {
    /// Whether they are the same rule.
    public static func == (left: ChainRule, right: ChainRule) -> Bool { left.description == right.description }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
