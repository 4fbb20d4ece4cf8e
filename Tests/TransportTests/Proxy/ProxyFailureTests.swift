import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

/// Proxies that refuse, break or attack.
@Suite("Failures of proxies", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ProxyFailureTests {
    private func request(_ scheme: String = "https") -> TransportRequest {
        TransportRequest(head: HTTPRequest(method: .get, scheme: scheme, authority: "service.test", path: "/"))
    }

    /// The error of a request through a proxy that serves connections like this.
    private func error(
        _ kind: Proxy.Kind, _ configure: @escaping (inout TransportConfiguration) -> Void = { _ in },
        serve: @escaping @Sendable (RawConnection) async throws -> Void
    ) async throws -> TransportError? {
        let server = try await MockServer.startRaw(serve: serve)
        let proxy = try Proxy(kind, host: server.host, port: server.port, username: "ada")
        let error = try await withTransport({
            $0.proxies = .fixed(proxy)
            configure(&$0)
        }) { transport in
            await failure { () async throws(TransportError) in try await transport.send(request()) }
        }
        #expect(error?.endpoint == "127.0.0.1:\(server.port)")
        await server.shutdown()
        return error
    }

    @Test func aPageIsReportedWithItsStatusAndFirstBytes() async throws {
        let error = try await error(.http) { connection in
            try await connection.read(through: "\r\n\r\n")
            try await connection.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 14\r\n\r\n<h1>Blocked</h1>")
        }
        #expect(error?.code == .proxyRefused)
        let refusal = try #require(error?.underlying as? Proxy.Refusal)
        #expect(refusal.status?.code == 403)
        #expect(refusal.page == "<h1>Blocked</h")
        #expect(error?.message.contains("status 403 Forbidden") == true)
        #expect(error?.message.contains("<h1>Blocked") == true)
    }

    @Test func aRefusalOfSOCKSHasItsReason() async throws {
        let error = try await error(.socks5h) { connection in
            _ = try await connection.read()
            try await connection.write(Data([5, 0]))
            _ = try await connection.read()
            try await connection.write(Data([5, 2]))
        }
        #expect(error?.code == .proxyRefused)
        #expect(error?.message.contains("its rules do not allow the connection") == true)
    }

    @Test(
        arguments: [Proxy.Kind.http, .socks4a, .socks5, .socks5h],
        [
            "SSH-2.0-OpenSSH_9.2\r\n", "\u{16}\u{3}\u{1}",
            "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 300_000),
            "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 10_000) + "\r\n",
        ])
    func whatIsNotTheProtocolIsRefused(kind: Proxy.Kind, bytes: String) async throws {
        let error = try await error(kind, { $0.resolution.hostOverrides = ["service.test": ["127.0.0.1"]] }) {
            connection in
            _ = try await connection.read()
            try await connection.write(bytes)
            while try await connection.read() != nil {}
        }
        #expect(error?.code == .proxyConnectionFailed)
        #expect(error?.message.contains("invalid answer") == true)
    }

    @Test(arguments: [(Proxy.Kind.http, "HTTP/1.1 20"), (.socks5h, "\u{5}"), (.socks4a, ""), (.http, "")])
    func anEndBeforeTheAnswerIsAFailure(kind: Proxy.Kind, bytes: String) async throws {
        let error = try await error(kind) { connection in
            _ = try await connection.read()
            try await connection.write(bytes)
        }
        #expect(error?.code == .proxyConnectionFailed)
        #expect(error?.message.contains("closed the connection") == true)
    }

    @Test(arguments: [Proxy.Kind.http, .https, .socks5h])
    func anAnswerThatNeverEndsIsATimeout(kind: Proxy.Kind) async throws {
        let error = try await error(kind, { $0.timeouts.connect = .milliseconds(200) }) { connection in
            _ = try await connection.read()
            if kind == .http { try await connection.write("HTTP/1.1 200 OK\r\n") }
            // A byte at a time, while the client listens.
            while kind == .http {
                try await connection.write("X: y\r\n")
                try await connection.perform(.delay(.milliseconds(20)))
            }
            while try await connection.read() != nil {}
        }
        #expect(error?.code == .connectTimeout)
    }

    @Test func aPageThatNeverEndsIsARefusal() async throws {
        var error: TransportError?
        // The timeout ends the page. On a busy machine it can also end the wait for the answer.
        for timeout in [Duration.milliseconds(200), .seconds(2), .seconds(20)] {
            error = try await self.error(.http, { $0.timeouts.connect = timeout }) { connection in
                try await connection.read(through: "\r\n\r\n")
                try await connection.write("HTTP/1.1 503 Busy\r\n\r\npage")
                while try await connection.read() != nil {}
            }
            if error?.code != .connectTimeout { break }
        }
        #expect(error?.code == .proxyRefused)
        #expect((error?.underlying as? Proxy.Refusal)?.page == "page")
    }

    @Test func tenThousandChallengesAreNoAnswer() async throws {
        let error = try await error(
            .http,
            {
                $0.limits.headFields = 20_000; $0.limits.headBytes = 1_000_000
            }
        ) { connection in
            try await connection.read(through: "\r\n\r\n")
            let fields = (0..<10_000).map { "Proxy-Authenticate: Scheme\($0) realm=\"x\"\r\n" }.joined()
            try await connection.write("HTTP/1.1 407 Auth\r\n\(fields)\r\n")
        }
        #expect(error?.code == .proxyAuthenticationRequired)
    }

    @Test func aProxyThatDoesNotListenIsNamed() async throws {
        // No server listens on port 1.
        for kind in [Proxy.Kind.http, .socks5h, .https] {
            let proxy = try Proxy(kind, host: "127.0.0.1", port: 1)
            try await withTransport({ $0.proxies = .fixed(proxy) }) { transport in
                let error = await failure { () async throws(TransportError) in try await transport.send(request("http"))
                }
                #expect(error?.code == .proxyConnectionFailed)
                #expect(error?.endpoint == "127.0.0.1:1")
                #expect(error?.message.contains("\(proxy)") == true)
                #expect(error?.attempts.map(\.failure) == [.notConnected])
            }
        }
    }

    @Test(arguments: [Proxy.Kind.http, .https, .socks5h])
    func aRequestThatWaitsForAProxyCanBeCancelled(kind: Proxy.Kind) async throws {
        let (asked, server) = (
            Signal(),
            try await MockServer.startRaw { connection in
                while try await connection.read() != nil {}
            }
        )
        let proxy = try Proxy(kind, host: server.host, port: server.port)
        try await withTransport({
            $0.proxies = .choosing { _ in
                asked.send()
                return proxy
            }
        }) { transport in
            let task = Task { await failure { () async throws(TransportError) in try await transport.send(request()) } }
            await asked.wait()
            while server.acceptedConnections == 0, !Task.isCancelled { await Task.yield() }
            task.cancel()
            #expect(await task.value?.code == .cancelled)
        }
        await server.shutdown()
    }
}
