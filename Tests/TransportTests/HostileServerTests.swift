import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

@Suite("Hostile and broken servers", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HostileServerTests {
    private func error(
        _ response: MockResponse, configure: (inout TransportConfiguration) -> Void = { _ in },
        delivery: ResponseDelivery = .whole(upTo: 1000)
    ) async throws -> TransportError? {
        try await withMockServer { _ in
            response
        } perform: { server in
            try await withTransport(configure) { transport in
                await failure { () async throws(TransportError) in
                    let response = try await transport.send(server.request(delivery: delivery))
                    _ = try await response.body.collect(upTo: .max)
                    return response
                }
            }
        }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1\r\n\r\n", "HTTP/3.0 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\nContent-Length: 0\r\n\r\n",
    ])
    func whatIsNotHTTPIsRefused(bytes: String) async throws {
        let error = try await error(.raw(bytes))
        #expect(error?.code == .invalidResponse)
    }

    @Test func switchingProtocolsIsRefused() async throws {
        let error = try await error(
            .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"))
        #expect(error?.code == .invalidResponse)
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "HTTP/1.1 200 OK\r\nContent-Le", ""])
    func anEndBeforeTheEndIsAFailure(bytes: String) async throws {
        let error = try await error(.raw(bytes))
        #expect(error?.code == .connectionClosed)
    }

    @Test func headsAreLimitedInBytes() async throws {
        let large = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 5000) + "\r\nContent-Length: 0\r\n\r\n"
        #expect(try await error(.raw(large), configure: { $0.limits.headBytes = 4096 })?.code == .headTooLarge)
        #expect(try await error(.raw(large), configure: { $0.limits.headBytes = 8192 })?.code == nil)
    }

    @Test func headsAreLimitedInFields() async throws {
        let fields = (0..<20).map { "X-\($0): y\r\n" }.joined()
        let many = "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 0\r\n\r\n"
        #expect(try await error(.raw(many), configure: { $0.limits.headFields = 20 })?.code == .headTooLarge)
        #expect(try await error(.raw(many), configure: { $0.limits.headFields = 21 })?.code == nil)
    }

    @Test func informationalResponsesAreLimited() async throws {
        let hint = HTTPResponse(status: .init(code: 103))
        let response = MockResponse(body: .text("ok"), informational: Array(repeating: hint, count: 300))
        #expect(try await error(response)?.code == nil)
        // Each counts at least its status line and 64 bytes.
        let limited = try await error(response, configure: { $0.limits.headBytes = 300 * 64 })
        #expect(limited?.code == .tooManyInformationalResponses)
    }

    @Test func aFewHundredFieldsAreNoAttack() async throws {
        let fields = (0..<4_999).map { "X-\($0): y\r\n" }.joined()
        let many = "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 0\r\n\r\n"
        #expect(try await error(.raw(many))?.code == nil)
        #expect(try await error(.raw(many.replacing("200 OK\r\n", with: "200 OK\r\nX: y\r\n")))?.code == .headTooLarge)
    }

    @Test func bodiesAreLimited() async throws {
        let body = MockResponse(body: .bytes(Data(count: 1001)))
        #expect(try await error(body)?.code == .bodyTooLarge)
        #expect(try await error(MockResponse(body: .bytes(Data(count: 1000))))?.code == nil)
        #expect(try await error(MockResponse(body: .untilClose(Data(count: 1001))))?.code == .bodyTooLarge)
    }

    @Test func anUnsolicitedResponseEndsTheConnection() async throws {
        let twice = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let server = try await MockServer.startRaw { connection in
            while true {
                try await connection.readHead()
                try await connection.write(twice + (connection.index == 0 ? twice : ""))
            }
        }
        try await withTransport { transport in
            try await expectText("ok", transport, server.request())
            try await expectText("ok", transport, server.request())
        }
        #expect(server.acceptedConnections == 2)
        await server.shutdown()
    }

    /// HelloRequest, which a client ignores during a handshake (RFC 5246, 7.4.1.1), without end.
    @Test func anEndlessHandshakeEnds() async throws {
        let record: [UInt8] = [22, 3, 3, 0, 4, 0, 0, 0, 0]
        let flood = Data([[UInt8]](repeating: record, count: 10_000).joined())
        let server = try await MockServer.startRaw(configuration: .init { $0.hostName = "localhost" }) { connection in
            _ = try await connection.read()
            while true { try await connection.write(flood) }
        }
        try await withTransport({
            $0.securityPolicy = .insecureAcceptAnyCertificate
            $0.timeouts.tlsHandshake = .seconds(5)
        }) { transport in
            let head = HTTPRequest(method: .get, scheme: "https", authority: "localhost:\(server.port)", path: "/")
            let error = await failure { () async throws(TransportError) in
                try await transport.send(TransportRequest(head: head))
            }
            #expect(error?.code == .tlsHandshakeFailed)
        }
        await server.shutdown()
    }

    @Test func bytesThatArriveOneByOneAreAccepted() async throws {
        let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: v\r\n\r\n"
        let server = try await MockServer.startRaw { connection in
            try await connection.readHead()
            for character in bytes.unicodeScalars { try await connection.write(String(character)) }
            _ = try await connection.read()
        }
        try await withTransport { transport in
            let response = try await transport.send(server.request())
            #expect(response.text == "hello")
            #expect(response.body.completion?.trailers?.count == 1)
        }
        await server.shutdown()
    }
}

extension RawConnection {
    /// Reads a request's head.
    fileprivate func readHead() async throws {
        _ = try await read(through: "\r\n\r\n")
    }
}
