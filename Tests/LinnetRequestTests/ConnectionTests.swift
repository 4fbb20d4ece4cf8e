import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

private let linnet = BuiltProgram("linnet")

/// The options of `linnet` about trust, the way to the server, and time.
@Suite(.timeLimit(.minutes(2)), .enabled(if: linnet.exists, "linnet is not beside the tests"))
struct ConnectionTests {
    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    @Test func aPolicyFileDecides() async throws {
        let identity = try pki.identity()
        try await Scratch.with { scratch in
            _ = try scratch.write("root.pem", pki.rootPEM)
            try await withMockServer(.text("hello"), tls: identity) { server in
                for (pin, status) in [(identity.pin, Int32(0)), (try TestPKI.selfSigned().pin, 60)] {
                    let policy = try scratch.write(
                        "policy.json",
                        """
                        {"version": 1, "otherHosts": "refuse", "rules": [{"hosts": ["127.0.0.1"], "trust": "anchors",
                          "anchors": ["root.pem"], "pins": ["\(pin)"]}]}
                        """)
                    let run = try await linnet.run(["https://127.0.0.1:\(server.port)", "--policy", policy])
                    #expect(run.status == status, "\(run.errors)")
                }
                #expect(server.recordedRequests.count == 1)
            }
        }
    }

    @Test func aClientCertificateIsPresented() async throws {
        var configuration = MockServer.Configuration()
        configuration.clientCertificates = .required(issuedBy: [pki.root, pki.intermediate])
        let client = try pki.clientIdentity()
        try await Scratch.with { scratch in
            let root = try scratch.write("root.pem", pki.rootPEM)
            let certificate = try scratch.write("client.pem", client.certificateChainPEM)
            let key = try scratch.write("client.key", client.privateKeyPEM)
            try await withMockServer(.text("hello"), tls: pki.identity(), configuration: configuration) { server in
                let url = "https://127.0.0.1:\(server.port)"
                let run = try await linnet.run([url, "--cacert", root, "--cert", certificate, "--key", key])
                #expect(run.status == 0 && run.text == "hello", "\(run.errors)")
                #expect(server.recordedRequests.first?.clientCertificate == client.certificate)
                let without = try await linnet.run([url, "--cacert", root])
                #expect(without.status == 58, "\(without.errors)")
            }
        }
    }

    @Test func theEnvironmentsProxyIsUsedExceptToThisMachine() async throws {
        try await withMockServer(.text("hello")) { server in
            let proxy = try await FaultProxy.start(forwardingTo: server.port)
            let url = proxy.httpURL.absoluteString
            let run = try await linnet.run(["http://example.test/a"], environment: ["http_proxy": url, "no_proxy": ""])
            #expect(run.status == 0 && run.text == "hello", "\(run.errors)")
            #expect(proxy.acceptedConnections == 1)
            for arguments in [["127.0.0.1:\(server.port)"], ["127.0.0.1:\(server.port)", "--proxy", ""]] {
                let direct = try await linnet.run(arguments, environment: ["http_proxy": url, "no_proxy": ""])
                #expect(direct.status == 0 && proxy.acceptedConnections == 1, "\(direct.errors)")
            }
            let chosen = try await linnet.run(["http://127.0.0.1:\(server.port)", "--proxy", url])
            #expect(chosen.status == 0 && proxy.acceptedConnections == 2, "\(chosen.errors)")
            await proxy.shutdown()
        }
    }

    @Test func http2IsSpokenByPriorKnowledge() async throws {
        var configuration = MockServer.Configuration()
        configuration.httpVersions = .http2
        try await withMockServer(.text("hello"), configuration: configuration) { server in
            let run = try await linnet.run(["127.0.0.1:\(server.port)", "--http2", "-i"])
            #expect(run.status == 0 && run.text.hasPrefix("HTTP/2 200\r\n"), "\(run.errors)")
        }
    }

    @Test func aHostIsResolvedByTheCommandLine() async throws {
        try await withMockServer(.text("hello")) { server in
            let url = "http://linnet.test:\(server.port)"
            let run = try await linnet.run(
                [url, "--resolve", "linnet.test:\(server.port):127.0.0.1", "--proxy", ""])
            #expect(run.status == 0 && run.text == "hello", "\(run.errors)")
            #expect(server.recordedRequests.first?.authority == "linnet.test:\(server.port)")
        }
    }

    @Test func aUnixSocketIsUsed() async throws {
        try await Scratch.with { scratch in
            var configuration = MockServer.Configuration()
            configuration.unixSocket = scratch.file("s")
            try await withMockServer(.text("hello"), configuration: configuration) { _ in
                let run = try await linnet.run(["localhost/a", "--unix-socket", scratch.file("s")])
                #expect(run.status == 0 && run.text == "hello", "\(run.errors)")
            }
        }
    }

    @Test func aFailedRequestIsRepeated() async throws {
        let script = MockServer.Script([.text("no", status: .serviceUnavailable), .text("yes")])
        try await withMockServer(script) { server in
            let run = try await linnet.run(["127.0.0.1:\(server.port)", "--retry", "1"])
            #expect(run.status == 0 && run.text == "yes", "\(run.errors)")
        }
    }

    @Test func theTimesAreATableOnStandardError() async throws {
        try await withMockServer(.text("hello")) { server in
            let run = try await linnet.run(["127.0.0.1:\(server.port)", "--timings"])
            #expect(run.text == "hello" && run.errors.hasPrefix("status       200 OK\n"), "\(run.errors)")
        }
    }
}
