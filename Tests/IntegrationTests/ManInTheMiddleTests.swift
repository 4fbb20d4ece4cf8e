import CommandSupport
import FoundationEssentials
import Linnet
import LinnetTransport
import Testing

/// mitmproxy in front of nginx. Its own authority is installed as trusted.
@Suite(
    .leavesNothingAlive,
    .needsServers, .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Environment.hasManInTheMiddle, "mitmproxy is not installed: `make setup` installs it"))
struct ManInTheMiddleTests {
    /// The events that mitmproxy has recorded so far.
    private struct Events: Equatable {
        var (established, failed, requests) = (0, 0, 0)

        static func now() throws -> Events {
            let path = try Environment.value(of: "LINNET_TEST_SERVERS") + "/mitm/events"
            let lines = try String(contentsOf: URL(filePath: path), encoding: .utf8).split(separator: "\n")
            return Events(
                established: lines.count { $0 == "tls established" }, failed: lines.count { $0 == "tls failed" },
                requests: lines.count { $0.hasPrefix("request ") || $0 == "bytes" })
        }

        /// Waits until mitmproxy has recorded the given number of handshakes.
        static func after(handshakes: Int) async throws -> Events {
            while true {
                try Task.checkCancellation()
                let events = try now()
                if events.established + events.failed >= handshakes { return events }
                await Task.yield()
            }
        }
    }

    private static var authority: String {
        get throws { try Environment.value(of: "LINNET_TEST_SERVERS") + "/mitm/mitmproxy-ca-cert.pem" }
    }

    /// The root of the servers and mitmproxy's root.
    private func anchors() throws -> TrustAnchors {
        try .certificates(
            [Environment.certificate("root")] + X509Certificate.all(contentsOfFile: Self.authority))
    }

    @Test func aClientThatTrustsTheInstalledAuthorityCanBeRead() async throws {
        let before = try Events.now()
        try await Server.mitm.withSession(policy: .systemTrust(anchors: anchors())) { session in
            let response = try await session.get("1k").response()
            #expect(response.value == ServedFile.small.bytes)
        }
        let after = try await Events.after(handshakes: before.established + before.failed + 1)
        #expect(after.established == before.established + 1)
        // Confirms that the test can detect a request that was read.
        #expect(after.requests == before.requests + 1)
    }

    @Test(arguments: ["good", "intermediate", "root"], [TransportConfiguration.TLS.Version.tls12, .tls13])
    func aPinnedClientSendsNoByteOfARequest(
        certificate: String, version: TransportConfiguration.TLS.Version
    ) async throws {
        let pinned = try Environment.certificate(certificate)
        let policies = try [
            SecurityPolicy.publicKeyPins([pinned.publicKeyPin], anchors: anchors()),
            .certificatePins([pinned], anchors: anchors()),
            SecurityPolicy(rules: [
                HostRule("localhost", .pins(PinSet([pinned.publicKeyPin]), anchors: anchors()))
            ]),
        ]
        for policy in policies {
            let before = try Events.now()
            try await Server.mitm.withSession(policy: policy) {
                $0.tls.maximumVersion = version
            } run: { session in
                let error = await #expect(throws: SessionError.self) {
                    try await session.post("echo", ["secret": "secret"]).response(JSONResponseSerializer())
                }
                #expect(error?.code == .trustRefused)
                #expect(error?.trustRefusal?.reason == .pinMismatch)
            }
            let after = try await Events.after(handshakes: before.established + before.failed + 1)
            // The handshake failed, so no keys for application data were established.
            #expect(after.failed == before.failed + 1)
            #expect(after.established == before.established)
            #expect(after.requests == before.requests)
        }
    }

    /// The same with a separate program and an authority that is installed in the system's store.
    @Test(.enabled(if: BuiltProgram.linnetRequest.exists, "linnet-request is not beside the tests"))
    func anAuthorityInTheSystemStoreIsTrustedUnlessAKeyIsPinned() async throws {
        let url = try Server.mitm.url.appending(path: "1k").absoluteString
        let store = ["SSL_CERT_FILE": try Self.authority]
        let before = try Events.now()
        let unpinned = try await BuiltProgram.linnetRequest.run([url], environment: store)
        #expect(unpinned.status == 0, "\(unpinned.errors)")
        #expect(unpinned.output == ServedFile.small.bytes)
        let pinned = try await BuiltProgram.linnetRequest.run(
            [url, "--pin", Environment.pin.description], environment: store)
        #expect(pinned.status == 60)
        #expect(pinned.output.isEmpty)
        #expect(pinned.errors.contains("trustRefused") && pinned.errors.contains("Nothing was sent."))
        let after = try await Events.after(handshakes: before.established + before.failed + 2)
        #expect(after.established == before.established + 1)
        #expect(after.failed == before.failed + 1)
        #expect(after.requests == before.requests + 1)
    }
}

extension Environment {
    static let hasManInTheMiddle = ProcessInfo.processInfo.environment["LINNET_TEST_MITM"] != nil
}
