import FoundationEssentials
import Linnet
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct TrustTests {
    private static let wrongPin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test(
        arguments: [
            (Server.wrongHost, TrustRefusal.Reason.hostnameMismatch),
            (.expired, .expired),
            (.selfSigned, .selfSigned),
        ], Surface.allCases)
    func badCertificatesAreRefused(bad: (server: Server, reason: TrustRefusal.Reason), surface: Surface) async throws {
        let port = try bad.server.url.port
        try await bad.server.withSession { session in
            let error = await #expect(throws: SessionError.self) { try await surface.data("1k", on: session) }
            #expect(error?.code == .trustRefused)
            #expect(error?.trustRefusal?.reason == bad.reason)
            #expect(error?.trustRefusal?.host == "localhost")
            #expect(error?.trustRefusal?.port == port)
            #expect(error?.trustRefusal?.certificate != nil)
            #expect(error?.head == nil)
        }
    }

    @Test(arguments: Surface.allCases)
    func anUnknownAuthorityIsRefused(surface: Surface) async throws {
        let foreign = try TrustAnchors.certificates([Environment.certificate("selfsigned")])
        try await Server.tls.withSession(policy: .systemTrust(anchors: foreign)) { session in
            let error = await #expect(throws: SessionError.self) { try await surface.data("1k", on: session) }
            #expect(error?.code == .trustRefused)
            #expect(error?.trustRefusal?.reason == .unknownAuthority)
        }
    }

    @Test func theSystemStoreDoesNotTrustTheTestRoot() async throws {
        try await Server.tls.withSession(policy: .systemTrust) { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("1k").response(JSONResponseSerializer())
            }
            #expect(error?.code == .trustRefused)
        }
    }

    @Test(arguments: [Server.tls, .wrongHost, .expired, .selfSigned])
    func acceptingAnyCertificateAllowsEveryServer(server: Server) async throws {
        try await server.withSession(policy: .insecureAcceptAnyCertificate) { session in
            let response = try await session.get("1k").response()
            #expect(response.value == ServedFile.small.bytes)
            #expect(response.metrics.last?.isPinned == false)
        }
    }

    @Test func aSelfSignedCertificateCanBeAnAnchor() async throws {
        let own = try TrustAnchors.certificates([Environment.certificate("selfsigned")])
        try await Server.selfSigned.withSession(policy: .systemTrust(anchors: own)) { session in
            let response = try await session.get("1k").response()
            #expect(response.value == ServedFile.small.bytes)
        }
    }

    @Test(arguments: ["good", "intermediate", "root"], Surface.allCases)
    func aPinOfAnyCertificateInTheChainIsSufficient(certificate: String, surface: Surface) async throws {
        let pin = try Environment.certificate(certificate).publicKeyPin
        let policy = try SecurityPolicy.publicKeyPins(
            [PublicKeyPin(Self.wrongPin), pin], anchors: Environment.anchors)
        try await Server.tls.withSession(policy: policy) { session in
            let response = try await surface.data("1k", on: session)
            #expect(response.value == ServedFile.small.bytes)
            #expect(response.metrics.last?.isPinned == true)
            #expect(response.metrics.last?.verifiedPins.contains(pin.description) == true)
        }
    }

    @Test func thePinEqualsOpenSSLs() throws {
        #expect(try Environment.certificate("good").publicKeyPin == Environment.pin)
    }

    @Test(arguments: Surface.allCases)
    func aWrongPinIsRefusedWithTheSeenAndWantedPins(surface: Surface) async throws {
        let wanted = try PublicKeyPin(Self.wrongPin)
        let policy = try SecurityPolicy.publicKeyPins([wanted], anchors: Environment.anchors)
        let seen = try ["good", "intermediate", "root"].map { try Environment.certificate($0).publicKeyPin }
        try await Server.tls.withSession(policy: policy) { session in
            let error = await #expect(throws: SessionError.self) { try await surface.data("1k", on: session) }
            #expect(error?.code == .trustRefused)
            let refusal = try #require(error?.trustRefusal)
            #expect(refusal.reason == .pinMismatch)
            #expect(refusal.seenPins == seen)
            #expect(refusal.wantedPins == [wanted])
            for pin in seen + [wanted] { #expect(error?.message.contains(pin.description) == true) }
        }
    }

    @Test(
        arguments: [
            (Server.wrongHost, "wronghost", TrustRefusal.Reason.hostnameMismatch),
            (.expired, "expired", .expired),
            (.selfSigned, "selfsigned", .selfSigned),
        ])
    func aMatchingPinDoesNotMakeAnInvalidChainTrusted(
        server: Server, certificate: String, reason: TrustRefusal.Reason
    ) async throws {
        let pin = try Environment.certificate(certificate).publicKeyPin
        try await server.withSession(
            policy: .publicKeyPins([pin], anchors: Environment.anchors)
        ) { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("1k").response(JSONResponseSerializer())
            }
            #expect(error?.trustRefusal?.reason == reason)
            #expect(error?.trustRefusal?.wantedPins == [pin])
        }
    }

    @Test(arguments: ["good", "intermediate", "root"])
    func aPinnedCertificateIsTrusted(certificate: String) async throws {
        let policy = try SecurityPolicy.certificatePins(
            [Environment.certificate(certificate)], anchors: Environment.anchors)
        try await Server.tls.withSession(policy: policy) { session in
            let response = try await session.get("1k").response()
            #expect(response.metrics.last?.isPinned == true)
        }
    }

    @Test func aCertificateOtherThanThePinnedOneIsRefused() async throws {
        let policy = try SecurityPolicy.certificatePins(
            [Environment.certificate("expired")], anchors: Environment.anchors)
        try await Server.tls.withSession(policy: policy) { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("1k").response(JSONResponseSerializer())
            }
            #expect(error?.trustRefusal?.reason == .pinMismatch)
        }
    }

    @Test func theMostSpecificRuleDecides() async throws {
        let policy = try SecurityPolicy(
            rules: [HostRule("localhost", .pins([Environment.pin], anchors: Environment.anchors))],
            otherHosts: .refuse)
        try await Server.tls.withSession(policy: policy) { session in
            let response = try await session.get("1k").response()
            #expect(response.metrics.last?.isPinned == true)
            let other = try Server.tls.url(host: "127.0.0.1").appending(path: "1k").absoluteString
            let error = await #expect(throws: SessionError.self) {
                try await session.get(other).response(JSONResponseSerializer())
            }
            #expect(error?.trustRefusal?.reason == .hostRefused)
        }
    }

    @Test func aReplacedPolicyAppliesToTheNextRequest() async throws {
        try await Server.tls.withSession { session in
            _ = try await session.get("1k").response()
            try session.replaceSecurityPolicy(
                .publicKeyPins([PublicKeyPin(Self.wrongPin)], anchors: Environment.anchors))
            let error = await #expect(throws: SessionError.self) {
                try await session.get("1k").response(JSONResponseSerializer())
            }
            #expect(error?.trustRefusal?.reason == .pinMismatch)
            try session.replaceSecurityPolicy(.publicKeyPins([Environment.pin], anchors: Environment.anchors))
            let response = try await session.get("1k").response()
            #expect(response.metrics.last?.isPinned == true)
        }
    }

    @Test func pinsAreRefusedWithoutHTTPS() throws {
        let policy = try SecurityPolicy.publicKeyPins([Environment.pin], anchors: Environment.anchors)
        let error = #expect(throws: SessionError.self) {
            try HTTPSession(baseURL: Server.plain.url) { $0.securityPolicy = policy }
        }
        #expect(error?.code == .invalidConfiguration)
    }
}
