import FoundationEssentials
import LinnetSecurity
import LinnetTesting

/// A generated chain, the rule that it tests, and the decision under each profile.
struct ChainCase: Sendable, CustomStringConvertible {
    /// The reason for which each profile refuses; nil if it accepts.
    struct Verdicts: Sendable {
        typealias Reason = TrustRefusal.Reason

        var `default`: Reason?
        var strict: Reason?
        var lenient: Reason?

        static let accepted = Verdicts()

        /// Refused by every profile.
        static func refused(_ reason: Reason) -> Verdicts {
            Verdicts(default: reason, strict: reason, lenient: reason)
        }

        /// Refused by a rule for every authority that OpenSSL does not have.
        static func byRule(_ rule: ChainRule) -> Verdicts {
            Verdicts(default: rule.reason, strict: rule.reason, lenient: nil)
        }

        /// Refused by a rule for public web authorities.
        static func byWebRule(_ rule: ChainRule) -> Verdicts {
            Verdicts(default: nil, strict: rule.reason, lenient: nil)
        }

        /// Refused by rules that OpenSSL does not have; the strict profile checks another rule first.
        static func refused(default rule: ChainRule, strict: ChainRule) -> Verdicts {
            Verdicts(default: rule.reason, strict: strict.reason, lenient: nil)
        }

        /// Also refused by OpenSSL, with a less specific reason.
        static func refused(_ reason: Reason, lenient: Reason) -> Verdicts {
            Verdicts(default: reason, strict: reason, lenient: lenient)
        }
    }

    let description: String
    /// The document of the rule; RFC 5280 by default.
    let section: String
    let verdicts: Verdicts
    let change: @Sendable (inout ChainDraft) -> Void

    init(
        _ description: String, _ section: String, _ verdicts: Verdicts,
        change: @escaping @Sendable (inout ChainDraft) -> Void = { _ in }
    ) {
        self.description = description
        self.section = section
        self.verdicts = verdicts
        self.change = change
    }
}

/// The descriptions of a root, of authorities below it and of a server's certificate.
struct ChainDraft {
    var root = CertificateTemplate.authority("Root")
    /// The certificates from the root.
    var authorities = [CertificateTemplate.authority("Authority")]
    var leaf = CertificateTemplate.server(hosts: ["www.example.com"])
    /// The requested host; nil if it is not checked.
    var host: String? = "www.example.com"
    var time = Date()
    var maximumDepth = 10

    /// The only authority.
    var authority: CertificateTemplate {
        get { authorities[0] }
        set { authorities[0] = newValue }
    }

    /// Creates the certificates.
    func forged() throws -> ForgedChain {
        let anchor = try TestPKI.forgeRoot(root)
        let pki = try TestPKI()
        var issuers = [anchor]
        for template in authorities { issuers.append(try pki.forge(template, by: issuers.last)) }
        let server = try pki.forge(leaf, by: issuers.last)
        return ForgedChain(
            draft: self, anchor: try anchor.certificate,
            presented: [server.der] + issuers.dropFirst().reversed().map(\.der))
    }
}

/// The certificates of a draft.
struct ForgedChain {
    let draft: ChainDraft
    let anchor: X509Certificate
    let presented: [Data]

    /// Evaluates the chain.
    func refusal(_ profile: ChainProfile) async throws -> TrustRefusal? {
        var profile = profile
        profile.maximumDepth = draft.maximumDepth
        let evaluator = StandardTrustEvaluator.systemTrust(
            anchors: try .certificates([anchor]), validatesHost: draft.host != nil, profile: profile)
        let trust = ServerTrust(
            host: draft.host ?? "any.example", port: 443, presentedChain: presented, time: draft.time)
        return await evaluator.evaluate(trust).refusal
    }
}

extension CertificateTemplate {
    /// Replaces hosts and addresses; the first host is also the common name.
    mutating func name(_ hosts: [String], _ more: [UInt8]...) {
        if let first = hosts.first { subject = ASN1.name(first) }
        set("2.5.29.17", ASN1.sequence(of: hosts.map(ASN1.host) + more))
    }

    /// Adds names.
    mutating func alsoName(_ names: [UInt8]...) {
        set("2.5.29.17", ASN1.sequence(of: [ASN1.host("www.example.com")] + names))
    }

    mutating func constrain(permitted: [[UInt8]] = [], excluded: [[UInt8]] = [], critical: Bool = true) {
        func list(_ tag: UInt8, _ names: [[UInt8]]) -> [UInt8] {
            names.isEmpty ? [] : ASN1.value(tag, names.flatMap { ASN1.sequence($0) })
        }
        set("2.5.29.30", critical: critical, ASN1.sequence(list(0xA0, permitted), list(0xA1, excluded)))
    }

    mutating func pathLength(_ octets: UInt8...) {
        set("2.5.29.19", critical: true, ASN1.sequence(ASN1.yes, ASN1.integer(octets)))
    }

    mutating func keyUsage(_ octets: [UInt8], unused: UInt8) {
        set("2.5.29.15", ASN1.bitString(octets, unused: unused))
    }

    mutating func purposes(_ identifiers: String..., critical: Bool = false) {
        set("2.5.29.37", critical: critical, ASN1.sequence(of: identifiers.map(ASN1.object)))
    }
}

/// Parts of certificates.
enum Part {
    static func mail(_ text: String) -> [UInt8] { ASN1.value(0x81, Array(text.utf8)) }
    static func uri(_ text: String) -> [UInt8] { ASN1.value(0x86, Array(text.utf8)) }
    static func other() -> [UInt8] {
        ASN1.value(0xA0, ASN1.object("1.3.6.1.4.1.311.20.2.3") + ASN1.value(0xA0, ASN1.value(0x0C, Array("user".utf8))))
    }
    static func directory(_ name: [UInt8]) -> [UInt8] { ASN1.value(0xA4, name) }

    /// A name with an organization and optionally a common name.
    static func organization(_ text: String, _ commonName: String? = nil, tag: UInt8 = 0x0C) -> [UInt8] {
        func attribute(_ identifier: String, _ text: String, _ tag: UInt8) -> [UInt8] {
            ASN1.value(0x31, ASN1.sequence(ASN1.object(identifier), ASN1.value(tag, Array(text.utf8))))
        }
        return ASN1.sequence(
            attribute("2.5.4.10", text, tag), commonName.map { attribute("2.5.4.3", $0, 0x0C) } ?? [])
    }
}
