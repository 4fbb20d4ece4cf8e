import FoundationEssentials
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ClientCertificateHookTests {
    private struct NoCard: Error {}

    private let pki: TestPKI

    init() throws {
        pki = try TestPKI()
    }

    private func withSession(
        _ configure: (inout HTTPSession.Configuration) throws -> Void,
        perform: (MockServer, HTTPSession) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration {
            $0.clientCertificates = .requested(issuedBy: [pki.root])
        }
        try await withMockServer(
            tls: pki.identity(), configuration: configuration, handler: { _ in .text("ok") },
            perform: { server in
                let session = try HTTPSession {
                    $0.securityPolicy = .systemTrust(anchors: try .certificates([pki.root]))
                    try configure(&$0)
                }
                try await perform(server, session)
                await session.shutdown()
            })
    }

    @Test func theHookChoosesTheIdentity() async throws {
        let minted = try pki.clientIdentity(named: "alice")
        let identity = try minted.clientIdentity()
        try await withSession {
            $0.sessionHooks.didReceiveClientCertificateRequest = { request, proposed in
                #expect(proposed == nil)
                return request.accepts(identity) ? identity : nil
            }
        } perform: { server, session in
            _ = try await session.call(SessionRequest(url: server.url("/"))).response()
            #expect(server.recordedRequests.map(\.clientCertificate) == [minted.certificate])
        }
    }

    @Test func theHooksErrorFailsTheRequest() async throws {
        try await withSession {
            $0.sessionHooks.didReceiveClientCertificateRequest = { _, _ in throw NoCard() }
        } perform: { server, session in
            let url = try server.url("/")
            let error = await #expect(throws: SessionError.self) {
                try await session.call(SessionRequest(url: url)).response()
            }
            #expect(error?.code == .hookFailed)
            #expect(error?.underlying is NoCard)
            #expect(server.recordedRequests.isEmpty)
        }
    }

    @Test func replacedIdentitiesCallTheHookAgain() async throws {
        let minted = [try pki.clientIdentity(named: "alice"), try pki.clientIdentity(named: "bob")]
        let identities = try minted.map { try $0.clientIdentity() }
        let asked = EventRecorder<ClientIdentity.ID?>()
        try await withSession {
            $0.sessionHooks.didReceiveClientCertificateRequest = { _, proposed in
                asked.record(proposed?.id)
                return identities[asked.events.count - 1]
            }
        } perform: { server, session in
            let request = SessionRequest(url: try server.url("/"))
            _ = try await session.call(request).response()
            _ = try await session.call(request).response()
            try session.replaceClientIdentities(.everyHost(identities[0]))
            _ = try await session.call(request).response()
            #expect(asked.events == [nil, identities[0].id])
            let shown = [minted[0], minted[0], minted[1]].map(\.certificate)
            #expect(server.recordedRequests.map(\.clientCertificate) == shown)
        }
    }
}
