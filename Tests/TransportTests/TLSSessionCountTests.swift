import COpenSSL
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// These tests count OpenSSL's sessions.
@Suite("TLS sessions are freed", .leavesNothingAlive, .serialized, .timeLimit(.minutes(5)))
struct TLSSessionCountTests {
    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func noSessionOutlivesItsTransport(version: TransportConfiguration.TLS.Version) async throws {
        let before = try Sessions.count()
        let identity = try TestPKI.selfSigned()
        let configuration = MockServer.Configuration {
            $0.hostName = "localhost"
            $0.maximumRequestsPerConnection = 1
            $0.issuesSessionTickets = true
        }
        let seen = try await withMockServer(tls: identity, configuration: configuration) { _ in
            .text("ok")
        } perform: { server in
            try await withTransport({
                $0.securityPolicy = .insecureAcceptAnyCertificate
                $0.tls.maximumVersion = version
            }) { transport in
                for round in 0..<40 {
                    // Tickets of a replaced policy are dropped, too.
                    if round == 30 {
                        transport.replaceSecurityPolicy(.everyHost(.insecureAcceptAnyCertificate))
                    }
                    try await expectText("ok", transport, server.request())
                }
                // Forty connections make more than forty sessions; the sessions of released connections go.
                while try Sessions.count() - before >= 30, !Task.isCancelled { await Task.yield() }
                return try Sessions.count()
            }
        }
        // The cache and the last connection hold some.
        #expect(seen > before)
        #expect(seen - before < 30)
        while try Sessions.count() > before, !Task.isCancelled { await Task.yield() }
    }
}

private enum Sessions {
    private static let alive = Atomic(0)

    /// How many sessions made since the first call are alive.
    static func count() throws -> Int {
        try #require(index >= 0)
        return alive.load(ordering: .acquiring)
    }

    /// OpenSSL calls these whenever it makes and frees a session.
    private static let index = CRYPTO_get_ex_new_index(
        CRYPTO_EX_INDEX_SSL_SESSION, 0, nil,
        { _, _, _, _, _, _ in Sessions.alive.add(1, ordering: .acquiringAndReleasing) },
        nil,
        { _, _, _, _, _, _ in Sessions.alive.subtract(1, ordering: .acquiringAndReleasing) })
}
