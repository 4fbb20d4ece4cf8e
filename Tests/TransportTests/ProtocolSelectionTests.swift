import HTTPTypes
import LinnetMessages
import LinnetSecurity
import LinnetTesting
import Testing

@testable import LinnetTransport

/// RFC 7301: the protocol that a server selects through ALPN.
@Suite("Selection of the application protocol", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ProtocolSelectionTests {
    /// The pool does not know these connections, so that nothing else closes them.
    @Test func aConnectionWithoutHTTP2IsClosedIfItIsRequired() async throws {
        let pki = try TestPKI()
        let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        try await withMockServer(tls: pki.identity()) { _ in
            .text("never")
        } perform: { server in
            try await withTransport({
                $0.securityPolicy = policy
                $0.httpVersions = .http2
            }) { transport in
                for _ in 0..<3 {
                    let error = await failure { () async throws(TransportError) in
                        try await transport.send(server.request())
                    }
                    #expect(error?.code == .tlsHandshakeFailed)
                }
                while server.acceptedConnections < 3 || server.openConnections > 0, !Task.isCancelled {
                    await Task.yield()
                }
                #expect(server.openConnections == 0)
                #expect(transport.openConnections == 0)
            }
        }
    }

    static let selections: [(String?, [String], Bool?)] = [
        ("h2", ["h2", "http/1.1"], true), ("h2", ["h2"], true), ("h2", ["http/1.1"], nil),
        ("http/1.1", ["h2", "http/1.1"], false), ("http/1.1", ["http/1.1"], false), ("http/1.1", ["h2"], nil),
        (nil, ["h2", "http/1.1"], false), (nil, ["http/1.1"], false), (nil, ["h2"], nil),
        ("http/1.0", ["h2", "http/1.1"], nil), ("", ["http/1.1"], nil),
    ]

    @Test(arguments: selections)
    func theServerMustSelectAnOfferedProtocol(selected: String?, offered: [String], isHTTP2: Bool?) throws {
        let origin = try Origin(HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/"))
        do throws(TransportError) {
            let choice = try Connector.choosesHTTP2(selected, offered: offered, origin)
            #expect(choice == isHTTP2)
        } catch {
            #expect(isHTTP2 == nil && error.code == .tlsHandshakeFailed && error.endpoint == origin.endpoint)
        }
    }
}
