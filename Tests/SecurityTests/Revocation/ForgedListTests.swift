import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Revocation lists that OpenSSL reads differently from RFC 5280, and authorities that must not sign lists.
@Suite("Forged revocation lists", .timeLimit(.minutes(1)))
struct ForgedListTests {
    private let pki: TestPKI
    private let root: ForgedCertificate

    init() throws {
        pki = try TestPKI()
        root = try TestPKI.forgeRoot(.authority("Root"))
    }

    /// An entry for a certificate with the template's serial number.
    private static func entry(_ extensions: CertificateTemplate.Extension...) -> [UInt8] {
        ASN1.sequence(
            ASN1.integer([0x01, 0x23, 0x45]), CertificateTemplate.time(daysFromNow: -2),
            extensions.isEmpty ? [] : ASN1.sequence(of: extensions.map(\.der)))
    }

    private static func reason(_ octets: UInt8...) -> CertificateTemplate.Extension {
        .init("2.5.29.21", ASN1.value(0x0A, octets))
    }

    private func refusal(
        _ authority: ForgedCertificate, _ list: Data, _ failure: RevocationOptions.Failure
    ) async throws -> TrustRefusal? {
        var profile = ChainProfile.default
        profile.revocation.lists = [try RevocationList(der: list)]
        profile.revocation.failure = failure
        let leaf = try pki.forge(.server(), by: authority)
        let evaluator = StandardTrustEvaluator.systemTrust(
            anchors: try .certificates([root.certificate]), profile: profile)
        let trust = ServerTrust(host: "localhost", port: 443, presentedChain: [leaf.der, authority.der])
        return await evaluator.evaluate(trust).refusal
    }

    /// keyCertSign alone, and keyCertSign with cRLSign (RFC 5280, 4.2.1.3 and 6.3.3 (f)).
    @Test(
        arguments: [([0x04], 2, .revocationListInvalid), ([0x06], 1, nil)]
            as [([UInt8], UInt8, TrustRefusal.Reason?)])
    func listOfAnAuthorityThatMustNotSignListsIsRefused(
        usage: [UInt8], unused: UInt8, reason: TrustRefusal.Reason?
    ) async throws {
        var template = CertificateTemplate.authority("Authority")
        template.set("2.5.29.15", ASN1.bitString(usage, unused: unused))
        let authority = try pki.forge(template, by: root)
        let empty = try TestPKI.forgeList([], by: authority)
        for failure in [RevocationOptions.Failure.soft, .hardForLeaf] {
            #expect(try await refusal(authority, empty, failure)?.reason == reason)
        }
        let full = try TestPKI.forgeList([Self.entry()], by: authority)
        #expect(try await refusal(authority, full, .soft)?.reason == reason ?? .revoked)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 9, 10] as [UInt8])
    func entryRevokesWithEveryReason(reason: UInt8) async throws {
        let authority = try pki.forge(.authority("Authority"), by: root)
        let list = try TestPKI.forgeList([Self.entry(Self.reason(reason))], by: authority)
        #expect(try await refusal(authority, list, .soft)?.reason == .revoked)
    }

    /// Only a delta list removes entries (RFC 5280, 5.3.1); in a complete list OpenSSL counts such an entry as none.
    @Test(arguments: [
        [entry(reason(8))], [entry(reason(8)), entry()], [entry(), entry(reason(8))],
        [entry(reason(1)), entry(reason(8))], [entry(reason(8)), entry(reason(8))],
    ])
    func completeListThatRemovesEntriesIsRefused(entries: [[UInt8]]) throws {
        let list = try TestPKI.forgeList(entries, by: root)
        let error = #expect(throws: SecurityError.self) { try RevocationList(der: list) }
        #expect(error?.code == .invalidRevocationList)
        #expect(error?.message.contains("5.3.1") == true)
    }

    /// An extension of an entry can say that the entry is for a certificate of another issuer (RFC 5280, 5.3 and
    /// 5.3.3).
    @Test(arguments: ["2.5.29.29", "2.5.29.21", "1.3.6.1.4.1.99999.1"])
    func listWhoseEntryHasACriticalExtensionIsRefused(identifier: String) throws {
        let list = try TestPKI.forgeList([Self.entry(.init(identifier, critical: true, [0x0A, 0x01, 0x01]))], by: root)
        let error = #expect(throws: SecurityError.self) { try RevocationList(der: list) }
        #expect(error?.code == .invalidRevocationList)
        #expect(error?.message.contains("critical extension") == true)
    }

    /// The octets of a reason, of criticality and of a scope that DER does not have.
    @Test(arguments: [
        [entry(reason(0, 8))], [entry(.init("2.5.29.21", [0x0A, 0x81, 0x01, 0x08]))], [entry(.init("2.5.29.21", []))],
        [entry(.init("2.5.29.21", [0x2A, 0x03, 0x0A, 0x01, 0x08]))],
        [entry() + ASN1.null], [ASN1.sequence(entry(), ASN1.null)],
        [
            ASN1.sequence(
                ASN1.integer([5]), CertificateTemplate.time(daysFromNow: -2),
                ASN1.sequence(
                    ASN1.sequence(ASN1.object("1.3.6.1.4.1.99999.1"), [0x01, 0x01, 0x01], ASN1.octetString(ASN1.null))))
        ],
    ])
    func listThatIsNotDERIsRefused(entries: [[UInt8]]) throws {
        let list = try TestPKI.forgeList(entries, by: root)
        let error = #expect(throws: SecurityError.self) { try RevocationList(der: list) }
        #expect(error?.code == .invalidRevocationList)
        #expect(error?.message.contains("critical") == false)
    }

    @Test(arguments: [
        ASN1.value(0xA6, ASN1.value(0x16, Array("http://a".utf8))), [0x9F, 0x06, 0x08] + Array("http://a".utf8),
        ASN1.value(0x89, Array("http://a".utf8)),
    ])
    func listWithAScopeThatIsNotDERIsRefused(name: [UInt8]) throws {
        let point = ASN1.sequence(ASN1.value(0xA0, ASN1.value(0xA0, Part.uri("http://b") + name)))
        let list = try TestPKI.forgeList([], extensions: [.init("2.5.29.28", critical: true, point)], by: root)
        #expect(throws: SecurityError.self) { try RevocationList(der: list) }
    }
}
