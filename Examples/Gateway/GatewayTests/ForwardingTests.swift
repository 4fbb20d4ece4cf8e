import FoundationEssentials
import GatewayServer
import HTTPTypes
import Linnet
import LinnetTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ForwardingTests {
    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func methodFieldsAndBodyArriveAsTheyAre(method: String) async throws {
        try await withGateway { request in
            MockResponse(
                status: .init(code: 418, reasonPhrase: "I'm a teapot"),
                headerFields: [.contentType: "text/x-own", .eTag: "\"1\""], body: .text(request.bodyText))
        } perform: { gateway in
            let verb = try #require(HTTPRequest.Method(method))
            var request = try gateway.request(
                verb, "/api/a%20b//c?x=1%2F2&y", [.authorization: "Bearer own", .contentType: "text/plain"])
            if verb != .get { request.body = .data(Data("content of \(method)".utf8)) }
            let (head, text) = try await gateway.send(request)
            #expect(head.status.code == 418)
            #expect(head.headerFields[.contentType] == "text/x-own")
            #expect(head.headerFields[.eTag] == "\"1\"")
            #expect(text == (verb == .get ? "" : "content of \(method)"))
            let sent = try #require(gateway.upstream.recordedRequests.first)
            #expect(sent.method == verb)
            #expect(sent.target == "/a%20b//c?x=1%2F2&y")
            #expect(sent.headerFields[.authorization] == "Bearer own")
            #expect(sent.authority == "127.0.0.1:\(gateway.upstream.port)")
        }
    }

    @Test func headHasTheLengthAndNoBody() async throws {
        try await withGateway { request in
            MockResponse.raw("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
        } perform: { gateway in
            let (head, text) = try await gateway.send(try gateway.request(.head, "/api/x"))
            #expect(head.headerFields[.contentLength] == "1234")
            #expect(text.isEmpty)
        }
    }

    @Test func fieldsOfConnectionsEndAtTheGateway() async throws {
        try await withGateway { _ in
            MockResponse.raw(
                "HTTP/1.1 200 OK\r\nConnection: X-Upstream, close\r\nX-Upstream: 1\r\nKeep-Alive: timeout=5\r\n"
                    + "Proxy-Authenticate: Basic\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\nok")
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            try await client.get(
                "/api/x",
                [
                    "Connection: keep-alive, X-Private", "X-Private: secret", "Keep-Alive: 5", "TE: trailers",
                    "Proxy-Authorization: Basic eA==", "Upgrade: h2c", "X-Kept: 1", "Via: 1.0 first",
                ])
            let response = try #require(try await client.response())
            #expect(response.body == "ok")
            let head = response.head.lowercased()
            for name in ["x-upstream:", "keep-alive:", "proxy-authenticate:"] { #expect(!head.contains(name)) }
            #expect(head.contains("x-kept: 1"))
            let fields = try #require(gateway.upstream.recordedRequests.first).headerFields
            for name in ["X-Private", "Keep-Alive", "TE", "Proxy-Authorization", "Upgrade"] {
                #expect(fields[try #require(HTTPField.Name(name))] == nil, "\(name)")
            }
            #expect(fields[.via] == "1.0 first, 1.1 linnet-gateway")
            #expect(fields[try #require(HTTPField.Name("X-Forwarded-For"))] == "127.0.0.1")
            await client.close()
        }
    }

    @Test func codedBytesAndRedirectsPassAsTheyAre() async throws {
        let coded = Data((0..<2000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try await withGateway { request in
            request.path == "/coded"
                ? MockResponse(headerFields: [.contentEncoding: "gzip"], body: .bytes(coded))
                : .redirect(to: "https://elsewhere.example/")
        } perform: { gateway in
            let response = try await gateway.client.call(try gateway.request(.get, "/api/coded")).bytes()
            #expect(response.head.headerFields[.contentEncoding] == "gzip")
            #expect(try await response.body.collect(upTo: 4000) == coded)
            let (head, _) = try await gateway.get("/api/moved")
            #expect(head.status == .found)
            #expect(head.headerFields[.location] == "https://elsewhere.example/")
            #expect(gateway.upstream.recordedRequests.allSatisfy { $0.headerFields[.acceptEncoding] == nil })
        }
    }

    @Test(arguments: ["/api/../x", "/api/a/%2E%2e/x", "/api/./x", "/api/.%2e", "/api/a\\..\\b"])
    func pathsThatLeaveTheUpstreamAreRefused(path: String) async throws {
        try await withGateway { _ in
            .text("never")
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            try await client.get(path)
            #expect(try await client.response()?.status == 400)
            #expect(gateway.upstream.recordedRequests.isEmpty)
            await client.close()
        }
    }

    @Test(arguments: ["Content-Length: 2000", "Transfer-Encoding: chunked"])
    func largeContentIsRefused(framing: String) async throws {
        try await withGateway(settings: { $0.maximumBodySize = 1000 }) { request in
            .text(request.bodyText)
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            let body = String(repeating: "x", count: 2000)
            try await client.send(
                "POST /api/x HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n"
                    + (framing.hasPrefix("T") ? "7d0\r\n\(body)\r\n0\r\n\r\n" : body))
            let response = try #require(try await client.response())
            #expect(response.status == 413)
            #expect(response.body.contains("\"status\":413"))
            await client.close()
        }
    }

    @Test func aClientThatAsksForConsentGetsIt() async throws {
        try await withGateway { request in
            .text(request.bodyText)
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            try await client.send(
                "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await client.response()?.status == 100)
            try await client.send("body")
            #expect(try await client.response()?.body == "body")
            await client.close()
        }
    }

    @Test func anUpstreamThatIsDownIsABadGateway() async throws {
        try await withGateway { _ in
            .text("never")
        } perform: { gateway in
            await gateway.upstream.shutdown()
            let (head, text) = try await gateway.get("/api/x?token=secret")
            #expect(head.status == .badGateway)
            #expect(head.headerFields[.contentType] == "application/problem+json")
            #expect(text.contains("\"title\":\"Bad Gateway\""))
            #expect(!text.contains("\(gateway.upstream.port)") && !text.contains("secret"))
        }
    }

    @Test func anUpstreamThatBreaksOffBreaksTheResponseOff() async throws {
        try await withGateway { _ in
            MockResponse(body: .bytes(Data(count: 1 << 20))).with(.init(.close, at: .responseBody(after: 1 << 19)))
        } perform: { gateway in
            let response = try await gateway.client.call(try gateway.request(.get, "/api/x")).bytes()
            await #expect(throws: SessionError.self) { _ = try await response.body.collect(upTo: 1 << 21) }
        }
    }

    @Test func largeHeadsAreRefused() async throws {
        try await withGateway { _ in
            .text("never")
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            try await client.get("/api/x", ["X-Large: " + String(repeating: "x", count: 64 << 10)])
            let status = try await client.response()?.status
            #expect(status == 400 || status == 431 || status == nil)
            #expect(gateway.upstream.recordedRequests.isEmpty)
            await client.close()
        }
    }

    @Test func otherPathsAreNotFound() async throws {
        try await withGateway { _ in
            .text("never")
        } perform: { gateway in
            try await gateway.expect(.notFound, for: "/apix")
            let (alive, ready) = (try await gateway.get("/healthz").text, try await gateway.get("/readyz").text)
            #expect(alive == "alive\n" && ready == "ready\n")
        }
    }
}
