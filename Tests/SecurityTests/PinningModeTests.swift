import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// AFNetworking's decision table (`AFSecurityPolicy`), row by row.
@Suite("AFNetworking's pinning modes", .timeLimit(.minutes(5)))
struct PinningModeTests {
    /// A server and its pinned certificates.
    enum Server: String, Sendable {
        case valid, expired, otherHost, foreign, selfSigned, selfSignedExpired, selfSignedOtherHost
    }

    enum Pinned: String, Sendable {
        case nothing, leaf, intermediate, root, stranger
    }

    struct Row: Sendable, CustomTestStringConvertible {
        /// The row of the table.
        var number: Int
        var mode: PinningMode
        var pinned: Pinned
        var allowsInvalid = false
        var validatesHost = true
        var server: Server
        /// Nil for accepted.
        var reason: TrustRefusal.Reason?

        var testDescription: String {
            "row \(number): \(mode), pinned \(pinned), allowInvalid \(allowsInvalid), host \(validatesHost), \(server)"
        }
    }

    private static let rows: [Row] = [
        // 2: with and without a check of the host.
        Row(number: 2, mode: .none, pinned: .nothing, server: .otherHost, reason: .hostnameMismatch),
        Row(number: 2, mode: .none, pinned: .nothing, validatesHost: false, server: .otherHost),
        Row(number: 2, mode: .none, pinned: .nothing, validatesHost: false, server: .expired, reason: .expired),
        // 3: nothing is pinned, so the system decides, whatever the certificates are, or nothing does.
        Row(number: 3, mode: .none, pinned: .nothing, server: .valid),
        Row(number: 3, mode: .none, pinned: .stranger, server: .valid),
        Row(number: 3, mode: .none, pinned: .leaf, server: .selfSigned, reason: .selfSigned),
        Row(number: 3, mode: .none, pinned: .nothing, server: .foreign, reason: .unknownAuthority),
        Row(number: 3, mode: .none, pinned: .nothing, allowsInvalid: true, validatesHost: false, server: .selfSigned),
        // 4: chains that the system does not trust are refused, pinned or not.
        Row(number: 4, mode: .certificate, pinned: .leaf, server: .selfSigned, reason: .selfSigned),
        Row(number: 4, mode: .certificate, pinned: .leaf, server: .expired, reason: .expired),
        Row(number: 4, mode: .publicKey, pinned: .leaf, server: .selfSigned, reason: .selfSigned),
        Row(number: 4, mode: .publicKey, pinned: .leaf, server: .foreign, reason: .unknownAuthority),
        Row(number: 4, mode: .publicKey, pinned: .leaf, server: .otherHost, reason: .hostnameMismatch),
        // 5: a certificate of the chain is a pinned one.
        Row(number: 5, mode: .certificate, pinned: .leaf, server: .valid),
        Row(number: 5, mode: .certificate, pinned: .intermediate, server: .valid),
        Row(number: 5, mode: .certificate, pinned: .root, server: .valid),
        Row(number: 5, mode: .certificate, pinned: .stranger, server: .valid, reason: .unknownAuthority),
        Row(number: 5, mode: .certificate, pinned: .leaf, server: .otherHost, reason: .hostnameMismatch),
        Row(number: 5, mode: .certificate, pinned: .leaf, validatesHost: false, server: .otherHost),
        // 6: the same without the system: the pinned certificates are the only anchors; name and dates are checked.
        Row(number: 6, mode: .certificate, pinned: .leaf, allowsInvalid: true, server: .selfSigned),
        Row(number: 6, mode: .certificate, pinned: .root, allowsInvalid: true, server: .foreign),
        Row(
            number: 6, mode: .certificate, pinned: .stranger, allowsInvalid: true, server: .selfSigned,
            reason: .selfSigned),
        Row(
            number: 6, mode: .certificate, pinned: .leaf, allowsInvalid: true, server: .selfSignedExpired,
            reason: .expired),
        Row(
            number: 6, mode: .certificate, pinned: .leaf, allowsInvalid: true, server: .selfSignedOtherHost,
            reason: .hostnameMismatch),
        Row(
            number: 6, mode: .certificate, pinned: .leaf, allowsInvalid: true, validatesHost: false,
            server: .selfSignedOtherHost),
        // 7: any key of the chain.
        Row(number: 7, mode: .publicKey, pinned: .leaf, server: .valid),
        Row(number: 7, mode: .publicKey, pinned: .intermediate, server: .valid),
        Row(number: 7, mode: .publicKey, pinned: .root, server: .valid),
        Row(number: 7, mode: .publicKey, pinned: .stranger, server: .valid, reason: .pinMismatch),
        // 8: AFNetworking accepts all of these.
        Row(number: 8, mode: .publicKey, pinned: .leaf, allowsInvalid: true, server: .selfSigned),
        Row(number: 8, mode: .publicKey, pinned: .leaf, allowsInvalid: true, server: .foreign),
        Row(number: 8, mode: .publicKey, pinned: .intermediate, allowsInvalid: true, server: .foreign),
        Row(
            number: 8, mode: .publicKey, pinned: .stranger, allowsInvalid: true, server: .selfSigned,
            reason: .pinMismatch),
        Row(
            number: 8, mode: .publicKey, pinned: .leaf, allowsInvalid: true, server: .selfSignedExpired,
            reason: .expired),
        Row(
            number: 8, mode: .publicKey, pinned: .leaf, allowsInvalid: true, server: .selfSignedOtherHost,
            reason: .hostnameMismatch),
        Row(
            number: 8, mode: .publicKey, pinned: .leaf, allowsInvalid: true, validatesHost: false,
            server: .selfSignedOtherHost),
    ]

    private let pki: TestPKI
    private let foreign: TestPKI

    init() throws {
        pki = try TestPKI()
        foreign = try TestPKI()
    }

    private func identity(_ server: Server) throws -> TestPKI.Identity {
        switch server {
        case .valid: try pki.identity()
        case .expired: try pki.identity { $0.validity = .expired }
        case .otherHost: try pki.identity { $0.hosts = ["other.example"] }
        case .foreign: try foreign.identity()
        case .selfSigned: try TestPKI.selfSigned()
        case .selfSignedExpired: try TestPKI.selfSigned { $0.validity = .expired }
        case .selfSignedOtherHost: try TestPKI.selfSigned { $0.hosts = ["other.example"] }
        }
    }

    private func certificates(_ pinned: Pinned, _ identity: TestPKI.Identity, _ server: Server) throws
        -> [X509Certificate]
    {
        let authority = server == .foreign ? foreign : pki
        return switch pinned {
        case .nothing: []
        case .leaf: [identity.certificate]
        case .intermediate: [authority.intermediate]
        case .root: [authority.root]
        case .stranger: [try TestPKI.selfSigned().certificate]
        }
    }

    @Test(arguments: rows)
    func decisionEqualsTheTable(_ row: Row) async throws {
        let identity = try identity(row.server)
        let policy = try SecurityPolicy.pinning(
            mode: row.mode, certificates: certificates(row.pinned, identity, row.server),
            allowInvalidCertificates: row.allowsInvalid, validatesDomainName: row.validatesHost, anchors: pki.anchors)
        #expect(await policy.evaluate(identity.trust()).refusal?.reason == row.reason)
    }

    /// 1: an invalid certificate, a host to check, and nothing pinned.
    @Test func hostCheckWithoutAnyPinIsAnError() throws {
        let error = #expect(throws: SecurityError.self) {
            try SecurityPolicy.pinning(mode: .none, allowInvalidCertificates: true)
        }
        #expect(error?.code == .unenforceablePolicy)
    }

    /// 1 and 9: nothing pinned in a mode that pins.
    @Test(arguments: [PinningMode.certificate, .publicKey], [false, true])
    func pinningWithoutCertificatesIsAnError(mode: PinningMode, allowsInvalid: Bool) throws {
        let error = #expect(throws: SecurityError.self) {
            try SecurityPolicy.pinning(mode: mode, allowInvalidCertificates: allowsInvalid)
        }
        #expect(error?.code == .noPins)
    }

    @Test func defaultsEqualAFNetworkings() async throws {
        let policy = try SecurityPolicy.pinning(mode: .publicKey, certificates: [pki.root])
        #expect(policy.isPinning)
        #expect(await policy.evaluate(try pki.identity().trust()).refusal?.reason == .unknownAuthority)
    }

    @Test func presentedKeysArePins() throws {
        let policy = try SecurityPolicy.pinning(
            mode: .publicKey, certificates: [pki.root], allowInvalidCertificates: true)
        #expect(policy.isPinning)
    }

    @Test func settingsOfAnEvaluatorThatAcceptsAllCheckNothing() throws {
        let settings = try #require(StandardTrustEvaluator.insecureAcceptAnyCertificate.settings)
        #expect(settings.allowInvalidCertificates && !settings.validatesDomainName)
    }

    /// A pinned certificate that is only added to the presented ones has signed nothing.
    @Test func pinnedCertificateBesideTheChainHasNoEffect() async throws {
        let policy = try SecurityPolicy.pinning(
            mode: .publicKey, certificates: [pki.root], allowInvalidCertificates: true)
        let attacker = try TestPKI.selfSigned()
        let trust = ServerTrust(attacker.chain + [pki.intermediate, pki.root])
        #expect(await policy.evaluate(trust).refusal != nil)
        let issued = try foreign.identity()
        #expect(await policy.evaluate(ServerTrust(issued.chain + [pki.root])).refusal != nil)
        let honest = try pki.identity()
        #expect(await policy.evaluate(ServerTrust(honest.chain + [pki.root])).isAccepted)
        // The root is not presented, so its signature cannot be found.
        #expect(await policy.evaluate(honest.trust()).refusal?.reason == .pinMismatch)
    }

    @Test func pinnedCertificatesAreReadFromDataFilesAndDirectories() async throws {
        let leaf = try pki.identity().certificate
        #expect(try X509Certificate.all(data: leaf.derBytes) == [leaf])
        #expect(try X509Certificate.all(data: Data(pki.rootPEM.utf8)) == [pki.root])
        try await Scratch.with { scratch in
            _ = try scratch.write("b.pem", pki.rootPEM + pki.intermediatePEM)
            _ = try scratch.write("a.CER", leaf.derBytes)
            _ = try scratch.write("read.me", "no certificate")
            #expect(try X509Certificate.all(inDirectory: scratch.path) == [leaf, pki.root, pki.intermediate])
            _ = try scratch.write("c.der", "no certificate")
            let error = #expect(throws: SecurityError.self) { try X509Certificate.all(inDirectory: scratch.path) }
            #expect(error?.code == .invalidCertificate)
            #expect(error?.message.contains("c.der") == true)
            let missing = #expect(throws: SecurityError.self) {
                try X509Certificate.all(inDirectory: scratch.file("none"))
            }
            #expect(missing?.code == .cannotReadFile)
        }
        try await Scratch.with { scratch in
            let empty = #expect(throws: SecurityError.self) { try X509Certificate.all(inDirectory: scratch.path) }
            #expect(empty?.code == .noPins)
        }
    }

    /// A policy tells what it was made of.
    @Test(arguments: PinningMode.allCases, [false, true])
    func settingsAreThoseOfThePolicy(mode: PinningMode, allowsInvalid: Bool) throws {
        let pki = try TestPKI()
        let certificates = [pki.root, pki.intermediate]
        let policy = try SecurityPolicy.pinning(
            mode: mode, certificates: certificates, allowInvalidCertificates: allowsInvalid,
            validatesDomainName: !allowsInvalid, anchors: .certificates([pki.root]))
        #expect(policy.pinningMode == mode && policy.pinnedCertificates == certificates)
        #expect(policy.allowInvalidCertificates == allowsInvalid && policy.validatesDomainName == !allowsInvalid)
        let settings = try #require(policy.evaluator(for: "localhost").settings)
        #expect(settings.pins == (mode == .publicKey ? certificates.map(\.publicKeyPin) : []))
        #expect(settings.pinExpiry == nil && settings.anchors?.certificates == [pki.root])
    }

    @Test func settingsOfEvaluatorsWithoutPins() throws {
        for (evaluator, allowsInvalid, validatesHost) in [
            (.systemTrust, false, true), (.systemTrust(validatesHost: false), false, false), (.hostname, true, true),
            (.insecureAcceptAnyCertificate, true, false),
        ] as [(StandardTrustEvaluator, Bool, Bool)] {
            let policy = SecurityPolicy.everyHost(evaluator)
            #expect(policy.pinningMode == PinningMode.none && policy.pinnedCertificates == [])
            #expect(policy.allowInvalidCertificates == allowsInvalid && policy.validatesDomainName == validatesHost)
        }
        let unknown = SecurityPolicy.everyHost(.refuse)
        #expect(unknown.pinningMode == nil && unknown.pinnedCertificates == [])
        #expect(!unknown.allowInvalidCertificates && !unknown.validatesDomainName)
    }
}
