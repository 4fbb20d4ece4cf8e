import FoundationEssentials
import LinnetSecurity
import LinnetSettings
import LinnetTesting
import Testing

/// A policy that a factory of the module makes.
struct CodedPolicy: Sendable, CustomTestStringConvertible {
    /// The certificates that the policies of the table are made with, and the chains that they evaluate.
    struct Materials: Sendable {
        let pki: TestPKI
        let foreign: TestPKI
        /// A valid server for `localhost` and `other.example`.
        let server: TestPKI.Identity
        let selfSigned: TestPKI.Identity
        let stranger: PublicKeyPin
        let list: RevocationList
        /// The chains of servers, each valid in another way or not at all.
        let chains: [[X509Certificate]]

        init() throws {
            pki = try TestPKI()
            foreign = try TestPKI()
            server = try pki.identity { $0.hosts = ["localhost", "other.example"] }
            selfSigned = try TestPKI.selfSigned()
            stranger = try TestPKI.selfSigned().pin
            list = try RevocationList(der: pki.revocationList(revoking: [server.certificate]))
            chains = [
                server.chain, server.chain + [pki.root], selfSigned.chain, try foreign.identity().chain,
                try pki.identity { $0.validity = .expired }.chain,
                try pki.identity { $0.commonName = "not a name" }.chain, try pki.identity { $0.key = .rsa2048 }.chain,
                try pki.identity { $0.promisesStaple = true }.chain,
            ]
        }
    }

    let name: String
    let make: @Sendable (Materials) throws -> SecurityPolicy

    init(_ name: String, _ make: @escaping @Sendable (Materials) throws -> SecurityPolicy) {
        self.name = name
        self.make = make
    }

    var testDescription: String { name }

    private static func everyHost(
        _ name: String, _ make: @escaping @Sendable (Materials) throws -> StandardTrustEvaluator
    ) -> CodedPolicy {
        CodedPolicy(name) { .everyHost(try make($0)) }
    }

    static let all = policies + anchors + pins + combinations + profiles + AFNetworkingFlags.all.map(\.policy)

    private static let policies: [CodedPolicy] = [
        CodedPolicy("systemTrust") { _ in .systemTrust },
        CodedPolicy("systemTrust(anchors:)") { .systemTrust(anchors: try $0.pki.anchors) },
        CodedPolicy("insecureAcceptAnyCertificate") { _ in .insecureAcceptAnyCertificate },
        CodedPolicy("publicKeyPins") { try .publicKeyPins([$0.server.pin], anchors: $0.pki.anchors) },
        CodedPolicy("publicKeyPins, system") { try .publicKeyPins([$0.server.pin]) },
        CodedPolicy("certificatePins") { try .certificatePins([$0.pki.root]) },
        CodedPolicy("certificatePins, anchors") {
            try .certificatePins([$0.server.certificate], anchors: $0.pki.anchors)
        },
        CodedPolicy("without resumption") {
            var policy = SecurityPolicy.systemTrust(anchors: try $0.pki.anchors)
            policy.allowsSessionResumption = false
            return policy
        },
        CodedPolicy("rules") {
            try SecurityPolicy(
                rules: [
                    HostRule("localhost", .pins([$0.server.pin], anchors: $0.pki.anchors)),
                    HostRule("127.0.0.0/8", .onlyAnchors([$0.pki.root])),
                    HostRule("2001:db8::/32", .onlyAnchors([$0.pki.root])),
                    HostRule("**.example", .onlyAnchors([$0.pki.root])),
                    HostRule("*.b.example", .refuse), HostRule("@single-label", .refuse),
                    HostRule("@private", .hostname),
                ],
                otherHosts: .onlyAnchors([$0.foreign.root]))
        },
        CodedPolicy("rules, refuse") {
            try SecurityPolicy(rules: [HostRule("localhost", .onlyAnchors([$0.pki.root]))], otherHosts: .refuse)
        },
    ]

    private static let anchors: [CodedPolicy] = [
        everyHost("onlyAnchors") { try .onlyAnchors([$0.pki.root]) },
        everyHost("onlyAnchors, intermediate") { try .onlyAnchors([$0.pki.intermediate]) },
        everyHost("additionalAnchors") { try .additionalAnchors([$0.pki.root, $0.foreign.root]) },
        everyHost("validatesHost: false") { .systemTrust(anchors: try $0.pki.anchors, validatesHost: false) },
        everyHost("hostname") { _ in .hostname },
        everyHost("refuse") { _ in .refuse },
    ]

    private static let pins: [CodedPolicy] = [
        everyHost("pins, leaf") { try .pins([$0.pki.root.publicKeyPin], anchors: $0.pki.anchors, position: .leaf) },
        everyHost("pins, validatesHost: false") {
            try .pins([$0.server.pin], anchors: $0.pki.anchors, validatesHost: false)
        },
        everyHost("pin set") {
            try .pins(PinSet([$0.stranger], backupPins: [$0.server.pin]), anchors: $0.pki.anchors)
        },
        everyHost("pin set, backups alone") {
            try .pins(PinSet([], backupPins: [$0.server.pin], position: .leaf), anchors: $0.pki.anchors)
        },
        everyHost("pin set that expired, refuse") { try .pins(expired($0, .refuse), anchors: $0.pki.anchors) },
        everyHost("pin set that expired, drop") { try .pins(expired($0, .dropPins), anchors: $0.pki.anchors) },
        everyHost("pin set that expires") {
            try .pins(
                PinSet(
                    [$0.server.pin], expiry: PinSet.Expiry(Date(timeIntervalSince1970: 9_999_999_999.25), then: .refuse)
                ),
                anchors: $0.pki.anchors)
        },
        everyHost("certificatePins, leaf") {
            try .certificatePins(
                [$0.pki.root, $0.server.certificate], anchors: $0.pki.anchors, validatesHost: false, position: .leaf,
                profile: .strict)
        },
        everyHost("certificatePins, self-signed") { try .certificatePins([$0.selfSigned.certificate]) },
    ]

    private static func expired(_ materials: Materials, _ consequence: PinSet.Expiry.Consequence) -> PinSet {
        PinSet(
            [materials.stranger], expiry: PinSet.Expiry(Date(timeIntervalSince1970: 1_000_000_000.5), then: consequence)
        )
    }

    private static let combinations: [CodedPolicy] = [
        everyHost("allOf") {
            .allOf(.hostname, try .onlyAnchors([$0.pki.root]), try .pins([$0.server.pin], anchors: $0.pki.anchors))
        },
        everyHost("allOf of one") { .allOf(try .onlyAnchors([$0.pki.root])) },
        everyHost("anyOf") {
            .anyOf(try .onlyAnchors([$0.foreign.root]), try .pins([$0.server.pin], anchors: $0.pki.anchors), .refuse)
        },
        everyHost("nested") {
            .anyOf(.allOf(.hostname, .anyOf(.refuse, try .onlyAnchors([$0.pki.root]))), .allOf(.refuse))
        },
        everyHost("reportOnly") {
            .reportOnly(try .pins([$0.stranger], anchors: $0.pki.anchors), enforcing: try .onlyAnchors([$0.pki.root]))
        },
        everyHost("reportOnly of reportOnly") {
            .reportOnly(
                .reportOnly(.refuse, enforcing: .hostname),
                enforcing: .reportOnly(
                    try .pins([$0.stranger], anchors: $0.pki.anchors), enforcing: try .onlyAnchors([$0.pki.root])))
        },
        CodedPolicy("insecureAllowingCleartext") {
            let pinned = try StandardTrustEvaluator.pins([$0.server.pin], anchors: $0.pki.anchors)
            return .everyHost(pinned.insecureAllowingCleartext())
        },
        CodedPolicy("insecureAllowingCleartext within allOf") {
            let pinned = try StandardTrustEvaluator.pins([$0.server.pin], anchors: $0.pki.anchors)
            return .everyHost(.allOf(.hostname, pinned.insecureAllowingCleartext()))
        },
    ]

    private static let profiles: [CodedPolicy] = [
        profile("default") { _, _ in },
        profile("strict") { profile, _ in profile = .strict },
        profile("lenient") { profile, _ in profile = .lenient },
        profile("allowing") { profile, _ in profile = .strict.allowing(.missingKeyUsage, .commonNameNotInNames) },
        profile("enforcing") { profile, _ in profile = .lenient.enforcing(.missingKeyUsage, .flawedAnchor) },
        profile("keys") { profile, _ in
            profile.keys.minimumRSABits = 3072
            profile.keys.kinds = [.p384, .ed25519]
            profile.keys.signatures = [.ecdsaSHA384, .rsaPSSSHA256]
        },
        profile("no keys") { profile, _ in (profile.keys.kinds, profile.keys.signatures) = ([], []) },
        profile("lifetime") { profile, _ in profile.maximumLeafLifetime = .milliseconds(1500) },
        profile("depth") { profile, _ in profile.maximumDepth = 0 },
        profile("revocation list") { profile, list in profile.revocation.lists = [list] },
        profile("revocation") { profile, _ in
            profile.revocation.failure = .hardForLeaf
            profile.revocation.checksStaple = false
            profile.revocation.honorsMustStaple = false
            profile.revocation.clockSkew = .microseconds(123_457)
        },
        profile("hard revocation") { profile, _ in profile.revocation.failure = .hard },
    ]

    private static func profile(
        _ name: String, _ change: @escaping @Sendable (inout ChainProfile, RevocationList) -> Void
    ) -> CodedPolicy {
        everyHost("profile: " + name) {
            var profile = ChainProfile.default
            change(&profile, $0.list)
            return .systemTrust(anchors: try $0.pki.anchors, profile: profile)
        }
    }
}

/// The arguments of `SecurityPolicy.pinning`.
struct AFNetworkingFlags: Sendable, CustomTestStringConvertible {
    let mode: PinningMode
    let allowsInvalid: Bool
    let validatesHost: Bool

    /// All combinations that make a policy.
    static let all = PinningMode.allCases.flatMap { mode in
        [(false, true), (false, false), (true, true), (true, false)].map {
            AFNetworkingFlags(mode: mode, allowsInvalid: $0.0, validatesHost: $0.1)
        }
    }.filter { $0.mode != .none || !$0.allowsInvalid || !$0.validatesHost }

    var testDescription: String { "pinning \(mode), allowInvalid \(allowsInvalid), host \(validatesHost)" }

    var policy: CodedPolicy {
        CodedPolicy(testDescription) { materials in
            try .pinning(
                mode: mode, certificates: [materials.pki.root, materials.selfSigned.certificate],
                allowInvalidCertificates: allowsInvalid, validatesDomainName: validatesHost,
                anchors: materials.pki.anchors)
        }
    }
}
