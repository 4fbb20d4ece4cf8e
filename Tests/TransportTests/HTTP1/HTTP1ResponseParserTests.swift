import HTTPTypes
import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Responses of HTTP/1.1", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP1ResponseParserTests {
    static let accepted: [(String, String)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "200 OK Content-Length=2 [ab]"),
        ("HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\nab", "200 OK content-length=2 [ab]"),
        ("HTTP/1.1 200 OK\r\nContent-Length: \t 2 \t\r\n\r\nab", "200 OK Content-Length=2 [ab]"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0002\r\n\r\nab", "200 OK Content-Length=0002 [ab]"),
        ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "200  Content-Length=0 []"),
        ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "200  Content-Length=0 []"),
        ("HTTP/1.1 299 Not  quite\tfine\r\nContent-Length: 0\r\n\r\n", "299 Not  quite\tfine Content-Length=0 []"),
        ("HTTP/1.0 200 OK\r\n\r\nto the end", "200 OK [to the end]"),
        ("HTTP/1.1 200 OK\r\n\r\n", "200 OK []"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nab", "200 OK Transfer-Encoding=identity [ab]"),
        ("HTTP/1.2 200 OK\r\nContent-Length: 1\r\n\r\na", "200 OK Content-Length=1 [a]"),
        (
            "HTTP/1.9 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "200 OK Transfer-Encoding=chunked [a]"
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: \(String(repeating: "0", count: 40))2\r\n\r\nab",
            "200 OK Content-Length=\(String(repeating: "0", count: 40))2 [ab]"
        ),
        ("HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", "204 No Content X=y []"),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "304 Not Modified Content-Length=9 []"),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            "100 Continue 103 Early Hints Link=a 204 No Content []"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0A\r\n0123456789\r\n0\r\n\r\n",
            "200 OK Transfer-Encoding=chunked [ab0123456789]"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1F\r\n0123456789abcdefghijklmnopqrstu\r\n0\r\n\r\n",
            "200 OK Transfer-Encoding=chunked [0123456789abcdefghijklmnopqrstu]"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: , Chunked\r\n\r\n0\r\n\r\n",
            "200 OK Transfer-Encoding=identity Transfer-Encoding=, Chunked []"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2;a=\"b;\" ;c\r\nab\r\n0;x\r\nX-T: v\r\nY-T: w\r\n\r\n",
            "200 OK Transfer-Encoding=chunked [ab] X-T=v Y-T=w"
        ),
        (
            "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\t c\r\nContent-Length: 0\r\n\r\n",
            "200 OK X=a  b \t c Content-Length=0 []"
        ),
        ("HTTP/1.1 200 OK\r\nX: a\r\n \r\nContent-Length: 0\r\n\r\n", "200 OK X=a Content-Length=0 []"),
        ("HTTP/1.1 200 OK\r\nX:\r\nContent-Length: 0\r\n\r\n", "200 OK X= Content-Length=0 []"),
        (
            "HTTP/1.1 200 OK\r\nContent-Lengti: 1\r\nXontent-Length: 2\r\nContent-Length: 0\r\n\r\n",
            "200 OK Content-Lengti=1 Xontent-Length=2 Content-Length=0 []"
        ),
        ("HTTP/1.1 200 OK\r\nX: ü\r\nContent-Length: 0\r\n\r\n", "200 OK X=ü Content-Length=0 []"),
        ("HTTP/1.1 200 OK\r\n!#$%&'*+-.^_`|~09azAZ: y\r\n\r\n", "200 OK !#$%&'*+-.^_`|~09azAZ=y []"),
    ]

    @Test(arguments: accepted) func isUnderstood(bytes: String, meaning: String) {
        let parsed = ParsedResponses(bytes)
        #expect(parsed.error == nil)
        #expect(parsed.responses == [meaning])
    }

    /// TCP preserves no boundaries: the result does not depend on how the bytes are split.
    @Test(arguments: accepted) func isUnderstoodInPieces(bytes: String, meaning: String) {
        let whole = ByteBuffer(string: bytes)
        for cut in 1..<whole.readableBytes {
            var (first, second) = (whole, whole)
            first.moveWriterIndex(to: cut)
            second.moveReaderIndex(to: cut)
            #expect(ParsedResponses([first, second]).responses == [meaning], "cut at \(cut)")
        }
        let bytes = (0..<whole.readableBytes).compactMap { whole.getSlice(at: $0, length: 1) }
        #expect(ParsedResponses(bytes).responses == [meaning])
    }

    /// Each piece ends inside the size of a chunk, so that there is always an unread byte.
    @Test func theBytesOfReadChunksAreDropped() throws {
        var parser = HTTP1ResponseParser(limits: TransportConfiguration.ResponseLimits())
        parser.begin(.get)
        parser.append(ByteBuffer(string: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1"))
        let piece = ByteBuffer(string: "\r\na\r\n1")
        var (heads, received, capacity) = (0, 0, 0)
        for count in 0..<100_000 {
            if count > 0 { parser.append(piece) }
            while let event = try parser.next() {
                switch event {
                case .head: heads += 1
                case .body(let bytes): received += bytes.readableBytes
                case .end: Issue.record("The body has not ended.")
                }
            }
            capacity = max(capacity, parser.input.storageCapacity)
        }
        #expect(heads == 1 && received == 99_999)
        #expect(capacity <= 256)
    }

    static let refused: [(String, String)] = [
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "a first line that is not an HTTP/1.1 status line"),
        ("HTTP/2.0 200 OK\r\n\r\n", "a first line that is not an HTTP/1.1 status line"),
        ("HTTP/1.x 200 OK\r\n\r\n", "a first line that is not an HTTP/1.1 status line"),
        ("H\n", "a first line that is not an HTTP/1.1 status line"), ("\n", "a line that does not end with CRLF"),
        ("HTTP/1.10 200 OK\r\n\r\n", "a first line that is not an HTTP/1.1 status line"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "a Transfer-Encoding that the request did not accept: \"gzip\""
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "a Transfer-Encoding that the request did not accept: \"gzip\""
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;a=b\r\n\r\n",
            "a Transfer-Encoding that the request did not accept: \"chunked;a=b\""
        ),
        ("http/1.1 200 OK\r\n\r\n", "a first line that is not an HTTP/1.1 status line"),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", "a first line that is not an HTTP/1.1 status line"),
        ("HTTP/1.1  200 OK\r\n\r\n", "a status that is not a number"),
        ("HTTP/1.1 2OO OK\r\n\r\n", "a status that is not a number"),
        ("HTTP/1.1 2000 OK\r\n\r\n", "a status that is not three digits"),
        ("HTTP/1.1 099 OK\r\n\r\n", "a status that is not three digits"),
        ("HTTP/1.1 200 O\u{0}K\r\n\r\n", "a control character in the reason phrase"),
        ("HTTP/1.1 200 OK\nX: y\r\n\r\n", "a line that does not end with CRLF"),
        ("HTTP/1.1 200 OK\r\nX: y\n\r\n", "a line that does not end with CRLF"),
        ("HTTP/1.1 200 OK\r\nX: y\r\n\n", "a line that does not end with CRLF"),
        ("HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", "a control character in a field value"),
        ("HTTP/1.1 200 OK\r\nX: a\u{0}b\r\n\r\n", "a control character in a field value"),
        ("HTTP/1.1 200 OK\r\nX: a\u{7F}b\r\n\r\n", "a control character in a field value"),
        ("HTTP/1.1 200 OK\r\nX: a\r\n b\u{1}\r\n\r\n", "a control character in a field value"),
        ("HTTP/1.1 200 OK\r\n X: y\r\n\r\n", "a continuation line without a field line"),
        ("HTTP/1.1 200 OK\r\nX : y\r\n\r\n", "an invalid field name"),
        ("HTTP/1.1 200 OK\r\nBad Name: y\r\n\r\n", "an invalid field name"),
        ("HTTP/1.1 200 OK\r\n: y\r\n\r\n", "an invalid field name"),
        ("HTTP/1.1 200 OK\r\n:path: y\r\n\r\n", "an invalid field name"),
        ("HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", "an invalid field name"),
        ("HTTP/1.1 200 OK\r\nNoColon\r\n\r\n", "an invalid field name"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "a Content-Length that is not a single number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "a Content-Length that is not a single number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", "a Content-Length that is not a single number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n", "a Content-Length that is not a single number"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "a Content-Length that is not a single number"
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\n",
            "a Content-Length that is not a single number"
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "both Content-Length and Transfer-Encoding"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
            "a Transfer-Encoding with a coding after chunked"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "a Transfer-Encoding with a coding after chunked"
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: ,\r\n\r\n", "an empty Transfer-Encoding"),
    ]

    static let refusedChunks: [(String, String)] = [
        ("x\r\n", "a chunk size that is not a number"), ("\r\n", "a chunk size that is not a number"),
        ("-1\r\n", "a chunk size that is not a number"), ("0x1\r\n", "a chunk size that is not a number"),
        ("1 \r\n", "a chunk size that is not a number"), ("1 2\r\n", "a chunk size that is not a number"),
        ("1;\u{0}\r\n", "a chunk size that is not a number"), ("1;a\rb\r\n", "a chunk size that is not a number"),
        ("1000000000000000\r\n", "a chunk size that is too large"),
        ("1\na\r\n", "a chunk size line that does not end with CRLF"),
        ("1\r\nab\r\n", "a chunk that is longer than its size"), ("1\r\na\n0", "a chunk that is longer than its size"),
        ("0\r\nX : y\r\n\r\n", "an invalid field name"),
        (String(repeating: "0", count: 5000), "a chunk size line that is too long"),
        ("1;" + String(repeating: "x", count: 5000), "a chunk size line that is too long"),
    ]

    @Test(arguments: refused + refusedChunks.map { ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + $0, $1) })
    func isRefused(bytes: String, why: String) {
        let parsed = ParsedResponses(bytes)
        #expect(parsed.error == .malformed(why))
        #expect(parsed.responses.isEmpty)
    }

    @Test(arguments: [
        "", "H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nX: y\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
    ])
    func anEarlyEndOfTheConnectionIsAnError(bytes: String) {
        let parsed = ParsedResponses(bytes)
        #expect(parsed.responses.isEmpty && parsed.error == nil)
    }

    /// The line of a chunk's size has at most 4,096 bytes before its line feed.
    @Test(
        arguments: [(4096, nil), (4097, .malformed("a chunk size line that is too long"))] as [(Int, HTTP1SyntaxError?)]
    )
    func theLineOfAChunkIsLimited(length: Int, error: HTTP1SyntaxError?) {
        let line = "1;" + String(repeating: "x", count: length - 3) + "\r\n"
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(ParsedResponses(head + line + "a\r\n0\r\n\r\n").error == error)
    }

    @Test func aResponseToHEADHasNoBody() {
        for fields in ["Content-Length: 100", "Transfer-Encoding: chunked", "X: y"] {
            let parsed = ParsedResponses("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n", method: .head)
            #expect(parsed.responses.count == 1 && parsed.responses.allSatisfy { $0.hasSuffix("[]") })
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", true), ("HTTP/1.0 200 OK\r\n", false),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n", false),
        ("HTTP/1.1 200 OK\r\nConnection: x, CLOSE\r\n", false), ("HTTP/1.1 200 OK\r\nConnection: closed\r\n", true),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n", true),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\n", false),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n", false),
    ])
    func persistenceFollowsVersionAndConnectionField(head: String, keepsAlive: Bool) throws {
        var parser = HTTP1ResponseParser(limits: .init())
        parser.begin(.get)
        parser.append(ByteBuffer(string: head + "\r\n"))
        guard case .head(let parsed) = try parser.next() else {
            Issue.record("there is no head")
            return
        }
        #expect(parsed.keepsAlive == keepsAlive)
    }

    @Test func surplusBytesAreDetected() throws {
        var parser = HTTP1ResponseParser(limits: .init())
        parser.begin(.get)
        parser.append(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc"))
        var events = 0
        while try parser.next() != nil { events += 1 }
        #expect(events == 3)
        #expect(parser.hasSurplus)
    }

    @Test func headsAndTrailersAreLimited() {
        var limits = TransportConfiguration.ResponseLimits()
        (limits.headBytes, limits.headFields) = (100, 3)
        let long = String(repeating: "a", count: 100)
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        func error(_ bytes: String) -> HTTP1SyntaxError? { ParsedResponses(bytes, limits: limits).error }
        #expect(error("HTTP/1.1 200 OK\r\nX: \(long)\r\n\r\n") == .headTooLarge)
        #expect(error("HTTP/1.1 200 OK\r\nX: \(long)") == .headTooLarge)
        #expect(error("HTTP/1.1 200 OK\r\nA: a\r\nB: b\r\nC: c\r\nD: d\r\n\r\n") == .tooManyFields)
        #expect(error("HTTP/1.1 200 OK\r\nA: a\r\nB: b\r\nC: c\r\n\r\n") == nil)
        #expect(error(chunked + "X: \(long)\r\n\r\n") == .headTooLarge)
        #expect(error(chunked + "A: a\r\nB: b\r\nC: c\r\nD: d\r\n\r\n") == .tooManyFields)
    }

    /// Nothing remembered from one head may appear in the next.
    @Test func aHeadThatDiffersFromThePreviousOneIsParsedCorrectly() {
        let heads = [
            "HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 1\r\nX: y\r\n\r\na",
            "HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 1\r\nX: y\r\n\r\nb",
            "HTTP/1.1 200 OK\r\nDate: Tue\r\nContent-Length: 2\r\nX: y\r\n\r\nbb",
            "HTTP/1.1 404 No\r\nDate: Tue\r\nX: y\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 404 No\r\nDat: Tue\r\nX: yy\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 404 No\r\nDate: Tue\r\n more\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 404 No\r\nDate: Tue\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 No\r\nDate:\r\n\r\n", "HTTP/1.1 204 No\r\nDate: Tue\r\n\r\n",
        ]
        let alone = heads.flatMap { ParsedResponses($0).responses }
        #expect(alone.count == heads.count)
        #expect(ParsedResponses(heads.joined()).responses == alone)
    }
}
