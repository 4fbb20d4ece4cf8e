import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Testing

/// The server determines the size of a session by its ticket and its chain.
@Suite("The size of TLS sessions", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TLSSessionSizeTests {
    struct Session: Sendable {
        /// About how many bytes are in the chain beside the leaf.
        var chain: Int
        /// The approximate size of the ticket: OpenSSL's servers put the client's certificate into it.
        var ticket: Int
        var isKept: Bool
    }

    @Test(
        arguments: [TransportConfiguration.TLS.Version.tls12, .tls13],
        [
            Session(chain: 0, ticket: 0, isKept: true),
            Session(chain: 0, ticket: 12_000, isKept: true),
            Session(chain: 12_000, ticket: 0, isKept: true),
            Session(chain: 17_000, ticket: 0, isKept: false),
            Session(chain: 8_000, ticket: 12_000, isKept: false),
        ])
    func largeSessionsAreNotResumed(version: TransportConfiguration.TLS.Version, session: Session) async throws {
        let authority = try TestPKI.forgeRoot(.authority("Clients"))
        let pki = try TestPKI()
        let leaf = try pki.forge(.server())
        let others = [ForgedCertificate](repeating: authority, count: session.chain / authority.der.count)
        var template = CertificateTemplate.server(hosts: ["client"])
        template.set("2.5.29.37", ASN1.sequence(ASN1.object("1.3.6.1.5.5.7.3.2")))
        template.set("1.3.6.1.4.1.99999.1", [UInt8](repeating: 0x55, count: session.ticket))
        let client = try TestPKI.identity(try pki.forge(template, by: authority), issuers: [])
        let identity = try client.clientIdentity()
        let configuration = try MockServer.Configuration {
            $0.hostName = "localhost"
            $0.maximumRequestsPerConnection = 1
            $0.issuesSessionTickets = true
            $0.clientCertificates = .required(issuedBy: [try authority.certificate])
        }
        try await withMockServer(
            tls: try TestPKI.identity(leaf, issuers: others), configuration: configuration
        ) { _ in
            .text("ok")
        } perform: { server in
            try await withTransport({
                $0.securityPolicy = .insecureAcceptAnyCertificate
                $0.clientIdentities = .everyHost(identity)
                $0.tls.maximumVersion = version
            }) { transport in
                var resumed: [Bool] = []
                for _ in 0..<3 {
                    resumed.append(try await transport.send(server.request()).metrics.isResumedTLSSession)
                }
                #expect(resumed == [false, session.isKept, session.isKept])
            }
        }
    }
}
