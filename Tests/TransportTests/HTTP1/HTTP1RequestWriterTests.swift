import HTTPTypes
import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Request heads of HTTP/1.1", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP1RequestWriterTests {
    private func text(
        _ method: HTTPRequest.Method, path: String? = "/a?b=c", authority: String? = "example.com",
        fields: HTTPFields = [:], body: TransportRequestBody? = nil, through proxy: ProxyServer? = nil
    ) throws(TransportError) -> String {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: authority, path: path, headerFields: fields)
        var buffer = ByteBuffer()
        var writer = try HTTP1RequestWriter(TransportRequest(head: head, body: body), through: proxy)
        try writer.write(to: &buffer)
        return String(buffer: buffer)
    }

    @Test func hostComesFirst() throws {
        #expect(
            try text(.get, fields: [.accept: "*/*", .userAgent: "Linnet"])
                == "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nUser-Agent: Linnet\r\n\r\n")
    }

    /// RFC 9112, 3.2.2.
    @Test func aProxyGetsAnAbsoluteTargetAndItsOwnCredentials() throws {
        let proxy = ProxyServer(try Proxy("https://ada:secret@proxy.example"))
        let long = String(repeating: "a", count: 5000)
        for value in ["own", long] {
            let text = try text(.get, fields: [.proxyAuthorization: value, .accept: value], through: proxy)
            #expect(
                text == "GET http://example.com/a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: \(value)\r\n"
                    + "Proxy-Authorization: Basic YWRhOnNlY3JldA==\r\n\r\n")
        }
        #expect(try text(.options, path: "*", through: proxy).hasPrefix("OPTIONS http://example.com HTTP/1.1\r\n"))
        // The target of another host.
        for path in ["@evil.example/", ".evil.example/", ":81/"] {
            #expect(throws: TransportError.self) { try text(.get, path: path, through: proxy) }
        }
    }

    /// RFC 9110, 11.7.2: it is for the proxy that receives the request, if one forwards it.
    @Test func anOriginGetsNoCredentialsForAProxy() throws {
        let fields: HTTPFields = [.proxyAuthorization: "Basic secret", .accept: "*/*"]
        #expect(try text(.get, fields: fields) == "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n\r\n")
        let proxy = ProxyServer(try Proxy("http://proxy.example"))
        #expect(try text(.get, fields: fields, through: proxy).contains("\r\nProxy-Authorization: Basic secret\r\n"))
    }

    @Test func aBodyWaitsForTheChallengeThatAProxyMayHave() throws {
        let proxy = ProxyServer(try Proxy("http://ada:secret@proxy.example"))
        let body = TransportRequestBody.bytes(ByteBuffer(string: "abc"))
        #expect(try text(.put, body: body, through: proxy).contains("Expect: 100-continue\r\n"))
        #expect(try !text(.get, through: proxy).contains("Expect"))
        let own = try text(.put, fields: [.expect: "100-continue"], body: body, through: proxy)
        #expect(own.ranges(of: "Expect: 100-continue").count == 1)
        #expect(proxy.authenticator.challenged(["Basic realm=x"], after: ProxyAnswer()) == .question)
        #expect(try !text(.put, body: body, through: proxy).contains("Expect"))
    }

    @Test func theTransportWritesTheFraming() throws {
        let fields: HTTPFields = [
            .contentLength: "7", .transferEncoding: "chunked", .upgrade: "h2c", .accept: "a",
        ]
        let start = "PUT /a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: a\r\n"
        let bytes = TransportRequestBody.bytes(ByteBuffer(string: "abc"))
        #expect(try text(.put, fields: fields, body: bytes) == start + "Content-Length: 3\r\n\r\n")
        let unknown = TransportRequestBody.stream(length: nil, isReplayable: false) { EmptyReader() }
        #expect(try text(.put, fields: fields, body: unknown) == start + "Transfer-Encoding: chunked\r\n\r\n")
    }

    @Test(arguments: [("GET", ""), ("DELETE", ""), ("POST", "0"), ("PUT", "0"), ("PATCH", "0")])
    func contentLengthZeroIsSentForMethodsThatExpectABody(method: String, length: String) throws {
        let text = try text(try #require(HTTPRequest.Method(method)))
        #expect(text.contains("Content-Length: \(length)\r\n") == !length.isEmpty)
        #expect(text.contains("Content-Length") == !length.isEmpty)
    }

    @Test(arguments: ["/a b", "/a\r\nX: y", "/ä", "/a\u{7F}b", ""])
    func pathsThatCouldInjectAreRefused(path: String) {
        let error = #expect(throws: TransportError.self) { try text(.get, path: path) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["a b", "a\r\nX: y", ""])
    func authoritiesThatCouldInjectAreRefused(authority: String) {
        let error = #expect(throws: TransportError.self) { try text(.get, authority: authority) }
        #expect(error?.code == .invalidRequest)
    }

    /// Characters that a value must not contain (RFC 9110, 5.5) and a lenient field accepts.
    @Test(arguments: [[0x01], [0x61, 0x1F], [0x7F], [0x08]] as [[UInt8]])
    func valuesWithControlCharactersAreRefused(value: [UInt8]) throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-A")), lenientValue: value))
        let error = #expect(throws: TransportError.self) { try text(.get, fields: fields) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func aRefusedHeadWritesNothing() throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .accept, lenientValue: [0x01]))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/", headerFields: fields)
        var buffer = ByteBuffer(string: "before")
        var writer = try HTTP1RequestWriter(TransportRequest(head: head))
        #expect(throws: TransportError.self) { try writer.write(to: &buffer) }
        #expect(String(buffer: buffer) == "before")
    }

    /// A field's value is bytes (RFC 9110, 5.5).
    @Test func valuesAreWrittenUnchanged() throws {
        let fields: HTTPFields = [.cookie: "a=ü", .userAgent: String(repeating: "u", count: 5000), .accept: ""]
        let text = try text(.get, fields: fields)
        #expect(text.contains("\r\nCookie: a=ü\r\nUser-Agent: uuu"))
        #expect(text.hasSuffix("u\r\nAccept: \r\n\r\n"))
    }

    @Test(arguments: [
        ("close", true), ("Close, TE", true), ("TE,close", true), ("keep-alive", false), ("", false),
        ("disclose, closed", false),
    ])
    func connectionCloseIsDetected(value: String, asksToClose: Bool) throws {
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: "a", path: "/", headerFields: [.connection: value])
        var writer = try HTTP1RequestWriter(TransportRequest(head: head))
        var buffer = ByteBuffer()
        try writer.write(to: &buffer)
        #expect(writer.asksToClose == asksToClose)
    }

    @Test func connectIsRefused() {
        let error = #expect(throws: TransportError.self) { try text(.connect) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func aControlCharacterIsFoundAtEachPositionOfAValue() {
        for length in 0...20 {
            for place in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: 0x61, count: length)
                    bytes[place] = byte
                    if length > 3 { bytes[length - 2] = 0x09 }
                    let isClean = bytes.withUnsafeBytes { $0.holdsFieldBytesAlone }
                    #expect(isClean == bytes.allSatisfy(\.isFieldByte), "\(byte) at \(place) of \(length)")
                }
            }
        }
    }
}

private struct EmptyReader: TransportBodyReader {
    mutating func next() async throws -> ByteBuffer? { nil }
}

extension HTTP1RequestWriter {
    /// The writer for an exchange of a request.
    fileprivate init(_ request: TransportRequest, through proxy: ProxyServer? = nil) throws(TransportError) {
        let exchange = HTTPExchange(
            request: request, observer: nil, timeouts: TransportTimeouts(), deadline: nil, mayBeStale: false,
            metrics: TransportMetrics())
        try self.init(exchange, through: proxy)
    }
}
