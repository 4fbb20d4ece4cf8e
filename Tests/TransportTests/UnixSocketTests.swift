import FoundationEssentials
import Glibc
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Unix sockets", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct UnixSocketTests {
    private static let host = "service.test"

    private static func path() -> String { "/tmp/linnet-\(UUID().uuidString).sock" }

    private static func head(_ scheme: String, _ authority: String = host, _ path: String = "/") -> TransportRequest {
        TransportRequest(head: HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path))
    }

    /// A server at a path, which answers with the Host field.
    private static func withServer(
        tls identity: TestPKI.Identity? = nil, versions: MockServer.Configuration.HTTPVersions = .http1,
        perform: (MockServer, String) async throws -> Void
    ) async throws {
        let path = path()
        let configuration = MockServer.Configuration {
            $0.hostName = host
            $0.unixSocket = path
            $0.httpVersions = versions
        }
        try await withMockServer(tls: identity, configuration: configuration) { request in
            .text(request.authority ?? "")
        } perform: { server in
            try await perform(server, path)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: ["service.test", "SERVICE.test.", "service.test:8080"])
    func aRequestReachesTheSocketOfItsHost(authority: String) async throws {
        try await Self.withServer { server, path in
            try await withTransport({ $0.resolution.unixSockets = ["Service.test": path] }) { transport in
                for isReused in [false, true] {
                    let response = try await transport.send(Self.head("http", authority))
                    #expect(response.text?.lowercased() == authority.lowercased())
                    #expect(response.metrics.remoteAddress == "unix:" + path)
                    #expect(response.metrics.localAddress == nil)
                    #expect(response.metrics.nameResolution == nil)
                    #expect((response.metrics.connect == nil) == isReused)
                    #expect(response.metrics.isReusedConnection == isReused)
                }
                #expect(server.acceptedConnections == 1)
            }
        }
    }

    @Test(arguments: [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("0:0::1", "[::1]")])
    func aHostMayBeAnAddress(host: String, authority: String) async throws {
        try await Self.withServer { _, path in
            try await withTransport({ $0.resolution.unixSockets = [host: path] }) { transport in
                try await expectText(authority, transport, Self.head("http", authority))
            }
        }
    }

    @Test func aLargeBodyPassesBothWays() async throws {
        let path = Self.path()
        let configuration = MockServer.Configuration { $0.unixSocket = path }
        try await withMockServer(configuration: configuration) {
            .text($0.bodyText)
        } perform: { _ in
            try await withTransport({ $0.resolution.unixSockets = [Self.host: path] }) { transport in
                let text = String(repeating: "0123456789abcdef", count: 1 << 16)
                var request = Self.head("http")
                request.head.method = .post
                request.body = .pieces(Array(repeating: text, count: 4))
                let response = try await transport.send(request)
                #expect(response.text?.utf8.count == 4 << 20)
            }
        }
    }

    // MARK: Trust

    @Test func theCertificateIsJudgedByTheHost() async throws {
        let pki = try TestPKI()
        for (name, reason) in [(Self.host, nil), ("other.test", TrustRefusal.Reason.hostnameMismatch)] {
            let identity = try pki.identity { $0.hosts = [name] }
            try await Self.withServer(tls: identity, versions: .both) { server, path in
                try await withTransport({
                    $0.securityPolicy = .systemTrust(anchors: try .certificates([pki.root]))
                    $0.resolution.unixSockets = [Self.host: path]
                }) { transport in
                    do throws(TransportError) {
                        let response = try await transport.send(Self.head("https"))
                        #expect(reason == nil)
                        #expect(response.metrics.httpVersion == "h2")
                        #expect(server.recordedRequests.map(\.serverName) == [Self.host])
                    } catch {
                        #expect(reason != nil && error.trustRefusal?.reason == reason)
                        #expect(server.recordedRequests.isEmpty)
                    }
                }
            }
        }
    }

    @Test func thePolicyForTheHostDecidesAboutClearText() async throws {
        try await Self.withServer { server, path in
            let pki = try TestPKI()
            let pinned = SecurityPolicy.everyHost(try .onlyAnchors([pki.root]))
            try await withTransport({
                $0.securityPolicy = pinned
                $0.resolution.unixSockets = [Self.host: path]
            }) { transport in
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(Self.head("http"))
                }
                #expect(error?.code == .cleartextRefused)
                #expect(server.acceptedConnections == 0)
            }
        }
    }

    // MARK: Other destinations

    /// The proxy does not exist, so that a request through it would fail.
    @Test func noProxyIsUsed() async throws {
        try await Self.withServer { server, path in
            let proxy = try Proxy("http://proxy.invalid:1")
            let policies: [ProxyPolicy] = [.fixed(proxy), .choosing { _ in proxy }]
            for policy in policies {
                try await withTransport({
                    $0.proxies = policy
                    $0.resolution.unixSockets = [Self.host: path]
                }) { transport in
                    try transport.prewarm(Self.head("http").head)
                    let response = try await transport.send(Self.head("http"))
                    #expect(response.metrics.proxy == nil)
                }
            }
            #expect(server.recordedRequests.count == 2)
        }
    }

    /// Its credentials would be sent to the service of the socket.
    @Test func aProxyIsNeverAtAUnixSocket() async throws {
        try await Self.withServer { server, path in
            try await withTransport({
                $0.proxies = .fixed(try Proxy("http://u:p@127.0.0.1:1"))
                $0.resolution.unixSockets = ["127.0.0.1": path]
            }) { transport in
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(Self.head("http", "other.test"))
                }
                #expect(error?.code == .proxyConnectionFailed)
                #expect(server.acceptedConnections == 0)
            }
        }
    }

    @Test func otherHostsAreOnTheNetwork() async throws {
        try await Self.withServer { local, path in
            try await withMockServer(.text("network")) { server in
                try await withTransport({ $0.resolution.unixSockets = [Self.host: path] }) { transport in
                    try await expectText("network", transport, server.request())
                    #expect(local.acceptedConnections == 0)
                }
            }
        }
    }

    // MARK: Failures

    @Test func aSocketThatCannotBeConnectedToIsNamedInTheError() async throws {
        let missing = Self.path()
        let file = Self.path()
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: file) }
        for (path, reason) in [(missing, "No such file or directory"), (file, "Connection refused")] {
            try await withTransport({ $0.resolution.unixSockets = [Self.host: path] }) { transport in
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(Self.head("http"))
                }
                #expect(error?.code == .connectionFailed)
                #expect(error?.endpoint == "service.test:80")
                #expect(
                    error?.message
                        == "The unix socket \"\(path)\" of service.test:80 could not be connected to: \(reason).")
                #expect(error?.attempts.map(\.failure) == [.notConnected])
            }
        }
    }

    @Test func aSocketWhoseQueueIsFullIsTriedAgain() {
        let full = IOError(errnoCode: EAGAIN, reason: "connect")
        #expect(TransportError(.connectionFailed, "", underlying: full).mayPass)
        let refused = IOError(errnoCode: ECONNREFUSED, reason: "connect")
        #expect(!TransportError(.connectionFailed, "", underlying: refused).mayPass)
    }

    @Test(arguments: [
        [host: ""], [host: "/tmp/a\0b"], [host: "/" + String(repeating: "a", count: 103)], ["": "/tmp/a"],
        ["a b": "/tmp/a"], ["service.test:80": "/tmp/a"], ["http://a": "/tmp/a"], ["[::1]": "/tmp/a"],
        [host: "/tmp/a", "SERVICE.test.": "/tmp/b"], ["127.1": "/tmp/a"], ["over.test": "/tmp/a"],
    ])
    func whatCannotBeASocketIsRefused(sockets: [String: String]) {
        var configuration = TransportConfiguration()
        configuration.resolution.hostOverrides = ["OVER.test.": ["127.0.0.1"]]
        configuration.resolution.unixSockets = sockets
        let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
        #expect(error?.code == .invalidConfiguration)
    }
}
