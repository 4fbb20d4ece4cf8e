import LinnetSecurity
import LinnetTesting
import Testing

@Suite("Client identities by host", .timeLimit(.minutes(1)))
struct ClientIdentityPolicyTests {
    private let (staff, robot): (ClientIdentity, ClientIdentity)

    init() throws {
        let pki = try TestPKI()
        staff = try pki.clientIdentity(named: "staff").clientIdentity()
        robot = try pki.clientIdentity(named: "robot").clientIdentity()
    }

    @Test func onlyTheMostSpecificRuleApplies() throws {
        let policy = try ClientIdentityPolicy(
            rules: [
                .init("**.example.com", staff), .init("api.example.com", robot), .init("public.example.com", nil),
                .init("10.0.0.0/8", robot),
            ], otherHosts: nil)
        for (host, expected) in [
            ("example.com", staff.id), ("a.b.example.com", staff.id), ("API.example.com.", robot.id),
            ("public.example.com", nil), ("10.1.2.3", robot.id), ("11.1.2.3", nil), ("example.org", nil),
        ] {
            #expect(policy.identity(for: host)?.id == expected, "\(host)")
        }
        #expect(policy.identities.map(\.id).count == 2)
    }

    @Test func otherHostsGetTheDefaultAndInvalidHostsNone() throws {
        let policy = try ClientIdentityPolicy(rules: [.init("example.com", nil)], otherHosts: staff)
        #expect(policy.identity(for: "example.com") == nil)
        #expect(policy.identity(for: "example.org")?.id == staff.id)
        #expect(policy.identity(for: "exämple.com") == nil)
        #expect(ClientIdentityPolicy.everyHost(robot).identity(for: "anything")?.id == robot.id)
        #expect(ClientIdentityPolicy.none.identity(for: "example.com") == nil)
        #expect(ClientIdentityPolicy.none.identities.isEmpty)
    }

    @Test func anIdentityIsAcceptedByTheIssuersOfItsChain() throws {
        func accepts(_ issuers: [String]) -> Bool {
            ClientIdentityPolicy.CertificateRequest(host: "example.com", port: 443, acceptableIssuers: issuers)
                .accepts(staff)
        }
        let issuer = try #require(staff.chain.last?.issuer)
        #expect(accepts([]) && accepts([issuer]) && accepts(["CN=Another", issuer]))
        #expect(!accepts(["CN=Another"]) && !accepts([""]))
    }

    @Test func duplicateRulesAreRefused() throws {
        let error = #expect(throws: SecurityError.self) {
            try ClientIdentityPolicy(rules: [.init("example.com", staff), .init("EXAMPLE.com", robot)])
        }
        #expect(error?.code == .duplicateRule)
    }
}
