import FoundationEssentials
import HTTPTypes
import Linnet
import LinnetTransport
import Testing

/// Client certificates with nginx and `openssl s_server`.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(3)))
struct ClientIdentityTests {
    static let versions = [TransportConfiguration.TLS.Version.tls12, .tls13]

    private func identity(_ name: String) throws -> ClientIdentity {
        let path = try Environment.value(of: "LINNET_TEST_SERVERS") + "/pki/\(name)"
        return try .files(certificates: path + ".pem", privateKey: path + ".key")
    }

    /// The subject of the certificate that nginx received; nil if it received none and refused the request.
    private func seen(_ session: HTTPSession) async throws -> (name: String?, isResumed: Bool) {
        let any = DataResponseSerializer(validation: .none)
        let response = try await session.get("1k").response(any)
        let isResumed = response.metrics.last?.isResumedTLSSession ?? false
        guard response.head.status == .ok else {
            #expect(response.head.status == .badRequest)
            return (nil, isResumed)
        }
        #expect(response.value == ServedFile.small.bytes)
        let field = try #require(HTTPField.Name("X-Client"))
        return (response.head.headerFields[field], isResumed)
    }

    @Test(arguments: versions, [HTTPVersions.http1, .http2])
    func nginxReceivesTheClientCertificate(
        version: TransportConfiguration.TLS.Version, http: HTTPVersions
    ) async throws {
        for (name, expected) in [("alice", "CN=alice"), ("mallory", nil), (nil, nil)] {
            let identities = try name.map { ClientIdentityPolicy.everyHost(try identity($0)) } ?? .none
            try await Server.client.withSession {
                $0.clientIdentities = identities
                $0.tls.maximumVersion = version
                $0.httpVersions = http
            } run: { session in
                let name = try await seen(session).name
                #expect(name == expected)
            }
        }
    }

    @Test(arguments: versions)
    func theIdentityCanBeReplaced(version: TransportConfiguration.TLS.Version) async throws {
        let alice = try ClientIdentityPolicy(rules: [.init("localhost", identity("alice"))])
        try await Server.client.withSession {
            $0.clientIdentities = alice
            $0.tls.maximumVersion = version
        } run: { session in
            let first = try await seen(session)
            #expect(first.name == "CN=alice")
            session.closeIdleConnections()
            let again = try await seen(session)
            #expect(again.name == "CN=alice")
            #expect(again.isResumed)
            for identities in [ClientIdentityPolicy.none, .everyHost(try identity("mallory"))] {
                try session.replaceClientIdentities(identities)
                let absent = try await seen(session)
                #expect(absent.name == nil)
                #expect(!absent.isResumed)
            }
            try session.replaceClientIdentities(alice)
            let back = try await seen(session)
            #expect(back.name == "CN=alice")
            #expect(!back.isResumed)
        }
    }

    @Test(arguments: [Server.sServerClient12, .sServerClient13])
    func aMissingRequiredCertificateIsReported(server: Server) async throws {
        for (name, code) in [
            (nil, SessionError.Code?.some(.clientCertificateRequired)), ("mallory", .clientCertificateRefused),
            ("alice", nil),
        ] {
            let identities = try name.map { ClientIdentityPolicy.everyHost(try identity($0)) } ?? .none
            try await server.withSession {
                $0.clientIdentities = identities
            } run: { session in
                do throws(SessionError) {
                    let page = try await session.get("/").response(StringResponseSerializer())
                    #expect(code == nil)
                    #expect(page.value.contains("alice"))
                } catch {
                    #expect(error.code == code, "\(error)")
                }
            }
        }
    }
}
