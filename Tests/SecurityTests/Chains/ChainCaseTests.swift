import LinnetSecurity
import LinnetTesting
import Testing

/// The chains by category.
enum ChainCases {
    static let all = names + constraints + pathLengths + validity + identifiers + keyUsage + encodings + unreadable
}

/// Chains that differ from a valid one in one respect, each evaluated under the three profiles.
@Suite("Chains by category and profile", .timeLimit(.minutes(2)))
struct ChainCaseTests {
    @Test(arguments: ChainCases.names)
    func names(_ chain: ChainCase) async throws { try await judge(chain) }

    @Test(arguments: ChainCases.constraints)
    func constraints(_ chain: ChainCase) async throws { try await judge(chain) }

    @Test(arguments: ChainCases.pathLengths)
    func pathLengths(_ chain: ChainCase) async throws { try await judge(chain) }

    @Test(arguments: ChainCases.validity)
    func validity(_ chain: ChainCase) async throws { try await judge(chain) }

    @Test(arguments: ChainCases.identifiers)
    func identifiers(_ chain: ChainCase) async throws { try await judge(chain) }

    @Test(arguments: ChainCases.keyUsage)
    func keyUsage(_ chain: ChainCase) async throws { try await judge(chain) }

    @Test(arguments: ChainCases.encodings)
    func encodings(_ chain: ChainCase) async throws { try await judge(chain) }

    /// OpenSSL comes first, and its reason differs from the rule's.
    @Test(arguments: ChainCases.unreadable)
    func encodingsThatOpenSSLDoesNotRead(_ chain: ChainCase) async throws {
        var draft = ChainDraft()
        chain.change(&draft)
        for (profile, reason) in [
            (ChainProfile.default, chain.verdicts.default), (.strict, chain.verdicts.strict),
            (.lenient, chain.verdicts.lenient),
        ] where reason != nil {
            #expect(try await draft.refusal(profile) != nil)
        }
    }

    private func judge(_ chain: ChainCase) async throws {
        var draft = ChainDraft()
        chain.change(&draft)
        let profiles: [(String, ChainProfile, TrustRefusal.Reason?)] = [
            ("default", .default, chain.verdicts.default), ("strict", .strict, chain.verdicts.strict),
            ("lenient", .lenient, chain.verdicts.lenient),
        ]
        for (name, profile, wanted) in profiles {
            let refusal = try await draft.refusal(profile)
            #expect(refusal?.reason == wanted, "\(name), \(chain.section): \(refusal?.message ?? "accepted")")
        }
    }

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
