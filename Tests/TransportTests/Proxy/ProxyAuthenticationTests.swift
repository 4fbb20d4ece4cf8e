import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// Authentication at proxies that follow a script, with one request for each connection.
@Suite("Authentication at proxies", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ProxyAuthenticationTests {
    /// The proxy's treatment of one request.
    private struct Step: Sendable {
        /// The last bytes of the request that it reads before it answers.
        var end = "\r\n\r\n"
        /// The last bytes of the body that it reads after `100 Continue`; nil to send none.
        var body: String?
        let status: String
        var fields = ""

        static let basic = Step(status: "407 Asks", fields: "Proxy-Authenticate: Basic realm=x\r\n")

        static func digest(_ nonce: String) -> Step {
            Step(
                status: "407 Asks",
                fields: "Proxy-Authenticate: Digest realm=x, qop=\"auth\", nonce=\"\(nonce)\", stale=true\r\n")
        }

        static func ok(_ end: String = "\r\n\r\n") -> Step { Step(end: end, status: "200 OK") }
        /// Asks for the body first.
        static func okAfterContinue(_ body: String) -> Step { Step(body: body, status: "200 OK") }
    }

    /// Runs requests through a proxy, and returns the bytes that it read before its answers.
    private func heads(
        _ steps: [Step], perform: (HTTPTransport) async throws -> Void
    ) async throws -> [String] {
        let heads = Mutex<[String]>([])
        let server = try await MockServer.startRaw { connection in
            let step = connection.index < steps.count ? steps[connection.index] : .basic
            let head = String(decoding: try await connection.read(through: step.end), as: UTF8.self)
            heads.withLock { $0.append(head) }
            if let body = step.body {
                try await connection.write("HTTP/1.1 100 Continue\r\n\r\n")
                try await connection.read(through: body)
            }
            try await connection.write(
                "HTTP/1.1 \(step.status)\r\n\(step.fields)Connection: close\r\nContent-Length: 0\r\n\r\n")
        }
        let proxy = try Proxy(.http, host: server.host, port: server.port, username: "ada", password: "secret")
        try await withTransport(
            {
                $0.proxies = .fixed(proxy)
                // Longer than the test may take: the body is sent after an answer only.
                $0.continueTimeout = .seconds(600)
            }, perform: perform)
        await server.shutdown()
        return heads.withLock { $0 }
    }

    private func request(
        _ method: HTTPRequest.Method = .get, scheme: String = "http", body: TransportRequestBody? = nil
    ) -> TransportRequest {
        TransportRequest(
            head: HTTPRequest(method: method, scheme: scheme, authority: "service.test", path: "/"), body: body)
    }

    private var readOnce: TransportRequestBody { .pieces(["one", "two"], length: 6, isReplayable: false) }

    private func failure(_ transport: HTTPTransport, _ request: TransportRequest) async -> TransportError? {
        await TransportTests.failure { () async throws(TransportError) in try await transport.send(request) }
    }

    @Test func aBodyThatCanBeReadOnceIsNotLostToAStaleNonce() async throws {
        let steps: [Step] = [.digest("one"), .ok(), .digest("two"), .okAfterContinue("onetwo"), .ok("abc")]
        let heads = try await heads(steps) { transport in
            _ = try await transport.send(request())
            let response = try await transport.send(request(.post, body: readOnce))
            #expect(response.head.status == .ok)
            #expect(response.attempts.dropLast().map(\.failure) == [.notProcessed])
            _ = try await transport.send(request(.post, body: .text("abc")))
        }
        try #require(heads.count == 5)
        #expect(heads[2].contains("nonce=\"one\"") && heads[2].contains("Expect: 100-continue"))
        #expect(heads[3].contains("nonce=\"two\"") && heads[3].contains("Expect: 100-continue"))
        // This body could be sent again.
        #expect(!heads[4].contains("Expect"))
    }

    /// RFC 7616, 3.3: the password may be right.
    @Test(arguments: ["http", "https"])
    func staleNoncesAreNoWrongPassword(scheme: String) async throws {
        let nonces = ["one", "two", "three", "four"].map { Step.digest($0) }
        let refused = Step(status: "403 No")
        let heads = try await heads(nonces + [scheme == "http" ? .ok() : refused]) { transport in
            guard scheme == "https" else {
                let response = try await transport.send(request())
                #expect(response.head.status == .ok)
                return
            }
            let error = await failure(transport, request(scheme: scheme))
            #expect(error?.code == .proxyRefused)
        }
        #expect(heads.count == 5)
        #expect(heads.last?.contains("nonce=\"four\"") == true)
    }

    @Test(arguments: ["http", "https"])
    func aProxyThatAlwaysSaysStaleEnds(scheme: String) async throws {
        let heads = try await heads((0..<20).map { .digest(String($0)) }) { transport in
            let error = await failure(transport, request(scheme: scheme))
            #expect(error?.code == .proxyAuthenticationRequired)
        }
        #expect(heads.count == 9)
    }

    @Test(arguments: ["http", "https"])
    func aWrongPasswordIsSentOnceForEachRequest(scheme: String) async throws {
        let heads = try await heads([]) { transport in
            for _ in 0..<2 {
                let error = await failure(transport, request(scheme: scheme))
                #expect(error?.code == .proxyAuthenticationRequired)
            }
        }
        #expect(heads.map { $0.contains("Proxy-Authorization: Basic") } == [false, true, true])
    }

    @Test func aProxyWithoutAChallengeIsNotAwaited() async throws {
        let heads = try await heads([.ok(), .ok("onetwo"), .basic, .ok()]) { transport in
            for request in [request(), request(.post, body: readOnce), request()] {
                let response = try await transport.send(request)
                #expect(response.head.status == .ok)
            }
        }
        #expect(heads.allSatisfy { !$0.contains("Expect") })
        #expect(heads.map { $0.contains("Proxy-Authorization") } == [false, false, false, true])
    }

    @Test func aRequestThatMayNotWaitIsSentAgain() async throws {
        let heads = try await heads([Step(status: "417 No"), .ok("onetwo")]) { transport in
            let response = try await transport.send(request(.post, body: readOnce))
            #expect(response.head.status == .ok)
            #expect(response.attempts.dropLast().map(\.failure) == [.notProcessed])
        }
        #expect(heads.map { $0.contains("Expect: 100-continue") } == [true, false])
    }

    // MARK: Proxy-Authentication-Info (RFC 7616, 3.5)

    @Test func theNextNonceOfAForwardedResponseIsUsed() async throws {
        let next = Step(status: "404 No", fields: "Proxy-Authentication-Info: nextnonce=\"two\"\r\n")
        let heads = try await heads([.digest("one"), next, .ok()]) { transport in
            for status in [404, 200] {
                let response = try await transport.send(request())
                #expect(response.head.status.code == status)
            }
        }
        try #require(heads.map { $0.contains("nonce=\"one\"") } == [false, true, false])
        #expect(heads[2].contains("nonce=\"two\"") && heads[2].contains("nc=00000001"))
    }

    @Test(arguments: ["http", "https"])
    func aWrongProofOfTheProxyIsAnError(scheme: String) async throws {
        let fields = "Proxy-Authentication-Info: rspauth=\"00000000000000000000000000000000\", qop=auth\r\n"
        let heads = try await heads([.digest("one"), Step(status: "200 OK", fields: fields)]) { transport in
            let error = await failure(transport, request(scheme: scheme))
            // A tunnel is not used; for a forwarded request, only the response is refused.
            #expect(error?.code == (scheme == "https" ? .proxyConnectionFailed : .invalidResponse))
            #expect(error?.message.contains("proof") == true && error?.message.contains("(rspauth) is wrong") == true)
            #expect(scheme == "https" || error?.attempts.count == 2)
        }
        try #require(heads.count == 2)
        #expect(heads[1].contains("Proxy-Authorization: Digest"))
    }

    /// Without an answer by Digest there is nothing that the field could prove.
    @Test func anUnrequestedProofIsIgnored() async throws {
        let fields = "Proxy-Authentication-Info: rspauth=\"00\", nextnonce=\"x\"\r\n"
        _ = try await heads([.basic, Step(status: "200 OK", fields: fields)]) { transport in
            let response = try await transport.send(request())
            #expect(response.head.status == .ok)
        }
    }

    @Test func aBodyThatIsLostToAChallengeIsNotBlamedOnThePassword() async throws {
        let late = Step(end: "onetwo", status: "407 Asks", fields: Step.basic.fields)
        _ = try await heads([.ok(), late]) { transport in
            _ = try await transport.send(request())
            let error = await failure(transport, request(.post, body: readOnce))
            #expect(error?.code == .proxyAuthenticationRequired)
            #expect(error?.message.contains("read only once") == true)
        }
    }
}
