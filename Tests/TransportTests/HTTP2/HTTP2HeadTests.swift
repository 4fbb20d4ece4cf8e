import HTTPTypes
import NIOCore
import Testing

@testable import LinnetTransport

/// RFC 9113, 8.2 and 8.3: heads on the wire.
@Suite("HTTP/2 heads", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2HeadTests {
    @Test func pseudoFieldsComeFirst() throws {
        let headers = try HTTP2RequestHead.make(
            .http2("/a?b=c", method: .post, fields: [.userAgent: "Test", .accept: "*/*"], body: .text("four")))
        #expect(
            headers.map { "\($0.name): \($0.value)" } == [
                ":method: POST", ":scheme: http", ":authority: localhost", ":path: /a?b=c", "user-agent: Test",
                "accept: */*", "content-length: 4",
            ])
    }

    @Test(arguments: [
        ("Connection", "keep-alive"), ("Keep-Alive", "timeout=5"), ("Proxy-Connection", "close"),
        ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("Host", "elsewhere"), ("TE", "gzip"),
        ("HTTP2-Settings", "AAMAAABkAAQAAP__"), ("Proxy-Authorization", "Basic secret"), ("Content-Length", "7"),
    ])
    func connectionFieldsAreNotSent(name: String, value: String) throws {
        let name = try #require(HTTPField.Name(name))
        let headers = try HTTP2RequestHead.make(.http2(fields: [name: value]))
        #expect(!headers.contains { $0.name == name.canonicalName })
    }

    @Test func fieldsNamedByConnectionAreNotSent() throws {
        let (hop, end) = (try #require(HTTPField.Name("X-Hop")), try #require(HTTPField.Name("X-End")))
        let headers = try HTTP2RequestHead.make(
            .http2(fields: [.connection: "close, X-Hop", hop: "here", end: "there", .te: "trailers"]))
        #expect(headers.map(\.name).suffix(2) == ["x-end", "te"])
    }

    @Test func secretsAreNeverIndexed() throws {
        let headers = try HTTP2RequestHead.make(.http2(fields: [.authorization: "Bearer abc", .cookie: "a=b"]))
        let secrets = headers.filter { ["authorization", "cookie"].contains($0.name) }
        #expect(secrets.count == 2)
        #expect(secrets.allSatisfy { $0.indexing == .neverIndexed })
    }

    @Test func anUnknownLengthSendsNoContentLength() throws {
        let headers = try HTTP2RequestHead.make(.http2(method: .post, body: .pieces(["a"])))
        #expect(!headers.contains { ["content-length", "transfer-encoding"].contains($0.name) })
    }

    /// An invalid value, which a lenient field of HTTPTypes accepts.
    @Test func aBadValueIsRefused() {
        let field = HTTPField(name: .userAgent, lenientValue: [0x61, 0x01, 0x62])
        #expect(throws: TransportError.self) { try HTTP2RequestHead.make(.http2(fields: HTTPFields([field]))) }
    }

    @Test(arguments: ["a b", "", "a\u{0}b"])
    func aBadPathIsRefused(path: String) {
        #expect(throws: TransportError.self) { try HTTP2RequestHead.make(.http2(path)) }
    }
}

@Suite("HTTP/2 streams' states", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2StreamStateMachineTests {
    private func machine(
        hasBody: Bool = false, expectsContinue: Bool = false, limit: Int = 200
    ) -> HTTP2StreamStateMachine {
        HTTP2StreamStateMachine(hasBody: hasBody, expectsContinue: expectsContinue, informationalBytes: limit)
    }

    @Test func aResponseEndsTheStream() {
        var machine = machine()
        let (head, end) = (machine.receivedHead(status: 200), machine.receivedEnd())
        #expect(head == .deliver && end == .complete)
    }

    @Test(arguments: [(200, false), (299, false), (303, false), (307, true), (308, true), (400, true), (503, true)])
    func aRefusalStopsTheBody(status: Int, stops: Bool) {
        var machine = machine(hasBody: true)
        let (head, end) = (machine.receivedHead(status: status), machine.receivedEnd())
        let isOver = machine.requestBodyEnded()
        #expect(head == (stops ? .deliverAndAbandonBody : .deliver))
        #expect(end == (stops ? .completeAndReset : .hold) && isOver == !stops)
    }

    @Test func continueSendsTheBodyOnce() {
        var machine = machine(hasBody: true, expectsContinue: true)
        let first = machine.receivedInformational(status: 100, bytes: 10, isEnd: false)
        let second = machine.receivedInformational(status: 100, bytes: 62, isEnd: false)
        let third = machine.receivedInformational(status: 103, bytes: 1, isEnd: false)
        #expect(first == .forwardAndSendBody && second == .forward && third == .fail(.tooManyInformationalResponses))
    }

    @Test func aFinalResponseInsteadOfContinueHoldsTheBody() {
        var machine = machine(hasBody: true, expectsContinue: true)
        let head = machine.receivedHead(status: 200)
        let sends = machine.continueTimedOut()
        #expect(head == .deliverAndAbandonBody && !sends)
    }

    @Test func anEndWithoutAHeadFails() {
        var machine = machine()
        let informational = machine.receivedInformational(status: 103, bytes: 10, isEnd: true)
        let end = machine.receivedEnd()
        #expect(informational == .fail(.endedWithoutResponse) && end == .fail(.endedWithoutResponse))
    }

    @Test func streamNumbersAreLimited() {
        var machine = HTTP2ConnectionStateMachine(firstID: Int(Int32.max) - 2)
        let ids = [machine.open(), machine.open(), machine.open()]
        #expect(ids == [Int(Int32.max) - 2, Int(Int32.max), nil])
        #expect(machine.capacity == 0)
    }
}
