import LinnetSecurity
import LinnetTesting
import Testing

/// The chains by category.
enum ChainCases {
    static let all = names + constraints + pathLengths + validity + identifiers + keyUsage + encodings + unreadable
}

/// Chains that differ from a valid one in one respect, each evaluated under the three profiles. The category of each
/// suite is its name's.
@Suite("Chains by category and profile", .timeLimit(.minutes(1)))
struct ChainCaseTests {
    @Test func chainCasesAreDistinctAndCited() {
        let names = ChainCases.all.map(\.description)
        print("\(names.count) chains")
        #expect(names.count >= 120)
        #expect(Set(names).count == names.count)
        for chain in ChainCases.all {
            #expect(chain.section.first?.isNumber == true || chain.section.contains(/RFC|Baseline/), "\(chain)")
        }
    }
}

@Suite("Chains: names", .timeLimit(.minutes(1)))
struct ChainNameTests {
    @Test(arguments: ChainCases.names)
    func names(_ chain: ChainCase) async throws { try await chain.judge() }
}

@Suite("Chains: constraints", .timeLimit(.minutes(1)))
struct ChainConstraintTests {
    @Test(arguments: ChainCases.constraints)
    func constraints(_ chain: ChainCase) async throws { try await chain.judge() }
}

@Suite("Chains: lengths of paths and validity", .timeLimit(.minutes(1)))
struct ChainValidityTests {
    @Test(arguments: ChainCases.pathLengths)
    func pathLengths(_ chain: ChainCase) async throws { try await chain.judge() }

    @Test(arguments: ChainCases.validity)
    func validity(_ chain: ChainCase) async throws { try await chain.judge() }
}

@Suite("Chains: identifiers and usage", .timeLimit(.minutes(1)))
struct ChainUsageTests {
    @Test(arguments: ChainCases.identifiers)
    func identifiers(_ chain: ChainCase) async throws { try await chain.judge() }

    @Test(arguments: ChainCases.keyUsage)
    func keyUsage(_ chain: ChainCase) async throws { try await chain.judge() }
}

@Suite("Chains: encodings", .timeLimit(.minutes(1)))
struct ChainEncodingTests {
    @Test(arguments: ChainCases.encodings)
    func encodings(_ chain: ChainCase) async throws { try await chain.judge() }

    /// OpenSSL comes first, and its reason differs from the rule's.
    @Test(arguments: ChainCases.unreadable)
    func encodingsThatOpenSSLDoesNotRead(_ chain: ChainCase) async throws {
        for (profile, refusal, reason) in try await chain.refusals() where reason != nil {
            #expect(refusal != nil, "\(profile)")
        }
    }
}

extension ChainCase {
    /// The refusals of the chain, and the reasons that are wanted, by the name of the profile.
    fileprivate func refusals() async throws -> [(String, TrustRefusal?, TrustRefusal.Reason?)] {
        var draft = ChainDraft()
        change(&draft)
        let forged = try draft.forged()
        return [
            ("default", try await forged.refusal(.default), verdicts.default),
            ("strict", try await forged.refusal(.strict), verdicts.strict),
            ("lenient", try await forged.refusal(.lenient), verdicts.lenient),
        ]
    }

    fileprivate func judge() async throws {
        for (profile, refusal, wanted) in try await refusals() {
            #expect(refusal?.reason == wanted, "\(profile), \(section): \(refusal?.message ?? "accepted")")
        }
    }
}
