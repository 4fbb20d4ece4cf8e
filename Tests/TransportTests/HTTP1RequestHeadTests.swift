import HTTPTypes
import NIOCore
import NIOHTTP1
import Testing

@testable import LinnetTransport

@Suite("Request heads of HTTP/1.1", .timeLimit(.minutes(5)))
struct HTTP1RequestHeadTests {
    private func head(
        _ method: HTTPRequest.Method, path: String? = "/a?b=c", authority: String? = "example.com",
        fields: HTTPFields = [:], body: TransportRequestBody? = nil
    ) throws(TransportError) -> HTTPRequestHead {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: authority, path: path, headerFields: fields)
        return try HTTP1RequestHead.make(TransportRequest(head: head, body: body))
    }

    @Test func hostComesFirst() throws {
        let head = try head(.get, fields: [.accept: "*/*"])
        #expect(head.uri == "/a?b=c")
        #expect(head.headers.map(\.name) == ["Host", "Accept"])
        #expect(head.headers.first(name: "Host") == "example.com")
    }

    @Test func theTransportWritesTheFraming() throws {
        let fields: HTTPFields = [.contentLength: "7", .transferEncoding: "chunked", .accept: "a"]
        let bytes = try head(.put, fields: fields, body: .bytes(ByteBuffer(string: "abc")))
        #expect(bytes.headers["Content-Length"] == ["3"])
        #expect(bytes.headers["Transfer-Encoding"].isEmpty)
        let unknown = TransportRequestBody.stream(length: nil, isReplayable: false) { EmptyReader() }
        let chunked = try head(.post, fields: fields, body: unknown)
        #expect(chunked.headers["Content-Length"].isEmpty)
        #expect(chunked.headers["Transfer-Encoding"] == ["chunked"])
    }

    @Test(arguments: [("GET", []), ("DELETE", []), ("POST", ["0"]), ("PUT", ["0"]), ("PATCH", ["0"])])
    func noBodyIsSaidWhereOneIsExpected(method: String, length: [String]) throws {
        let head = try head(try #require(HTTPRequest.Method(method)))
        #expect(head.headers["Content-Length"] == length)
    }

    @Test(arguments: ["/a b", "/a\r\nX: y", "/ä", "/a\u{7F}b", ""])
    func pathsThatCouldInjectAreRefused(path: String) {
        let error = #expect(throws: TransportError.self) { try head(.get, path: path) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["a b", "a\r\nX: y", ""])
    func authoritiesThatCouldInjectAreRefused(authority: String) {
        let error = #expect(throws: TransportError.self) { try head(.get, authority: authority) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func connectIsRefused() {
        let error = #expect(throws: TransportError.self) { try head(.connect) }
        #expect(error?.code == .invalidRequest)
    }
}

private struct EmptyReader: TransportBodyReader {
    mutating func next() async throws -> ByteBuffer? { nil }
}
