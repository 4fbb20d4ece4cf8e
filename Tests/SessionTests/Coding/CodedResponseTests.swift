import FoundationEssentials
import HTTPTypes
import LinnetCompression
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Testing

@testable import LinnetSession

/// RFC 9110, section 8.4.
@Suite("Bodies with content codings", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CodedResponseTests {
    private let content = Data(longText.utf8)

    @Test(arguments: Version.allCases, Surface.allCases)
    func aBodyIsDecodedOnEverySurface(version: Version, surface: Surface) async throws {
        let json = Data(#"{"finches": ["linnet", "twite"]}"#.utf8)
        let response = try MockResponse.coded(json, [.gzip], [.contentType: "application/json"])
        try await withMockClient(version, routes: { $0.on("/a", response) }) { session, _ in
            let received = try await surface.send("/a", with: session).get()
            #expect(received.value == ["finches": ["linnet", "twite"]])
            #expect(received.data == json)
            #expect(received.contentCodings == [.gzip])
            #expect(received.head.headerFields[.contentEncoding] == nil)
            #expect(received.head.headerFields[.contentLength] == nil)
            // The bytes on the wire are another number.
            #expect(received.metrics.last?.responseBodyBytes == Int64(try ContentCoding.gzip.encoded(json).count))
        }
    }

    @Test func severalCodingsAreDecoded() async throws {
        let response = try MockResponse.coded(content, [.deflate, .gzip])
        try await withMockClient(routes: { $0.on("/a", response) }) { session, _ in
            let received = try await session.get("/a").response()
            #expect(received.value == content && received.contentCodings == [.deflate, .gzip])
        }
    }

    @Test func aStreamIsDecodedWhileItArrives() async throws {
        let (stub, encoder) = (StubTransport.Body(), try ContentEncoder(.gzip))
        encoder.append(content)
        encoder.finish()
        var coded = Data()
        while let piece = try encoder.next() { coded.append(piece) }
        let session = try makeClient(StubTransport { _ in .stream(stub, headerFields: [.contentEncoding: "gzip"]) })
        let response = try await session.get("a").bytes()
        #expect(response.contentCodings == [.gzip] && response.body.whole == nil)
        var iterator = response.body.makeAsyncIterator()
        stub.send(coded.prefix(coded.count / 2))
        let first = try #require(try await iterator.next())
        #expect(!first.isEmpty && content.starts(with: first))
        stub.send(coded.dropFirst(coded.count / 2))
        stub.finish()
        var rest = first
        while let piece = try await iterator.next() { rest.append(piece) }
        #expect(rest == content)
        await session.shutdown()
    }

    @Test func linesComeFromTheDecodedBody() async throws {
        let response = try MockResponse.coded(Data("one\ntwo\n".utf8))
        try await withMockClient(routes: { $0.on("/a", response) }) { session, _ in
            var lines: [String] = []
            for try await line in session.get("/a").lines() { lines.append(line) }
            #expect(lines == ["one", "two"])
        }
    }

    /// Without a body, the fields describe the body that GET would receive (RFC 9110, section 9.3.2).
    @Test func fieldsWithoutABodyStay() async throws {
        let response = try MockResponse.coded(content)
        var notModified = MockResponse.status(.notModified)
        notModified.headerFields[.contentEncoding] = "gzip"
        var noContent = MockResponse.status(.noContent)
        noContent.headerFields[.contentEncoding] = "gzip"
        try await withMockClient {
            $0.on("/a", response)
            $0.on("/304", notModified)
            $0.on("/204", noContent)
        } perform: { session, _ in
            let head = try await session.head("/a").response()
            #expect(head.head.headerFields[.contentEncoding] == "gzip" && head.contentCodings.isEmpty)
            #expect(head.head.headerFields[.contentLength] == String(try ContentCoding.gzip.encoded(content).count))
            for path in ["/304", "/204"] {
                let response = try await session.get(path).bytes(validation: .none)
                #expect(response.head.headerFields[.contentEncoding] == "gzip" && response.contentCodings.isEmpty)
                #expect(try await response.body.collect(upTo: 1).isEmpty)
            }
        }
    }

    @Test(arguments: Surface.allCases) func emptyBodiesWithACodingAreEmpty(surface: Surface) async throws {
        try await withMockClient(routes: { $0.on("/a", .claiming("gzip", Data(), [.contentType: "application/json"])) })
        {
            session, _ in
            let body = try await session.get("/a").data()
            #expect(body.isEmpty)
            #expect(await surface.send("/a", with: session).error?.code != .contentDecodingFailed)
        }
    }

    @Test func identityIsNoCoding() async throws {
        try await withMockClient(routes: { $0.on("/a", .claiming("identity", content)) }) { session, _ in
            let received = try await session.get("/a").response()
            #expect(received.value == content && received.contentCodings.isEmpty)
            #expect(received.head.headerFields[.contentEncoding] == "identity")
        }
    }

    // MARK: Bodies that are not valid

    @Test(arguments: Version.allCases, Surface.allCases)
    func anUnknownCodingIsAnErrorWithTheBody(version: Version, surface: Surface) async throws {
        let response = MockResponse.claiming("br", Data("coded".utf8), [.contentType: "application/json"])
        try await withMockClient(version, routes: { $0.on("/a", response) }) { session, _ in
            let error = await surface.send("/a", with: session).error
            #expect(error?.code == .contentDecodingFailed && error?.compressionCode == .unknownCoding)
            #expect(error?.body == Data("coded".utf8))
            #expect(error?.head?.headerFields[.contentEncoding] == "br")
            #expect(error?.message.contains("br") == true && error?.metrics.count == 1)
        }
    }

    /// Only reading the body fails.
    @Test func aStreamOfAnUnknownCodingHasItsHead() async throws {
        try await withMockClient(routes: { $0.on("/a", .claiming("gzip, br", content)) }) { session, _ in
            let response = try await session.get("/a").bytes()
            #expect(response.status == .ok && response.head.headerFields[.contentEncoding] == "gzip, br")
            let error = await sessionError { try await response.body.collect(upTo: 1 << 20) }
            #expect(error?.code == .contentDecodingFailed && error?.body == content)
        }
    }

    @Test func damagedTruncatedAndExtendedBodiesAreErrors() async throws {
        let good = try ContentCoding.gzip.encoded(content)
        var damaged = good
        damaged[good.count - 1] ^= 1
        let cases: [(Data, CompressionError.Code)] = [
            (damaged, .invalidData), (good.dropLast(), .truncated), (good + [0], .trailingBytes),
            (content, .invalidData),
        ]
        for (body, code) in cases {
            try await withMockClient(routes: { $0.on("/a", .claiming("gzip", body)) }) { session, _ in
                let error = await sessionError { try await session.get("/a").data() }
                #expect(error?.code == .contentDecodingFailed && error?.compressionCode == code)
                #expect(error?.head?.status == .ok)
            }
        }
        try await withMockClient(routes: { $0.on("/a", .claiming("gzip,gzip,gzip,gzip,gzip,gzip", content)) }) {
            session, _ in
            let error = await sessionError { try await session.get("/a").data() }
            #expect(error?.compressionCode == .tooManyCodings)
        }
    }

    /// A connection that ends is an error of the connection.
    @Test func aConnectionThatEndsIsLost() async throws {
        let response = try MockResponse.coded(content).with(
            MockServer.Fault(.close, at: .responseBody(after: 20)))
        try await withMockClient(routes: { $0.on("/a", response) }) { session, _ in
            #expect(await sessionError { try await session.get("/a").data() }?.code == .connectionLost)
        }
    }

    // MARK: Limits

    @Test(arguments: Surface.allCases) func aBombIsStopped(surface: Surface) async throws {
        let response = try MockResponse.coded(Data(count: 20 << 20), [.gzip], [.contentType: "application/json"])
        try await withMockClient(routes: { $0.on("/a", response) }) { session, _ in
            let error = await surface.send("/a", with: session).error
            #expect(error?.code == .bodyTooLarge && error?.compressionCode == .ratioExceeded)
        }
    }

    @Test func theLimitsAreTheSessions() async throws {
        let response = try MockResponse.coded(Data(count: 2 << 20))
        try await withMockClient(configure: { $0.decodingLimits.maximumRatio = nil }, routes: { $0.on("/a", response) })
        {
            session, _ in
            let body = try await session.get("/a").data()
            #expect(body.count == 2 << 20)
        }
        try await withMockClient(
            configure: {
                $0.decodingLimits.maximumRatio = nil
                $0.decodingLimits.maximumSize = 1 << 20
            }, routes: { $0.on("/a", response) }
        ) { session, _ in
            let error = await sessionError { for try await _ in try await session.get("/a").bytes().body {} }
            #expect(error?.code == .bodyTooLarge && error?.compressionCode == .sizeExceeded)
        }
    }

    @Test(arguments: Surface.allCases) func theLimitInMemoryCountsDecodedBytes(surface: Surface) async throws {
        let response = try MockResponse.coded(content, [.gzip], [.contentType: "application/json"])
        try await withMockClient(configure: { $0.maximumBodySize = 50_000 }, routes: { $0.on("/a", response) }) {
            session, _ in
            #expect(await surface.send("/a", with: session).error?.code == .bodyTooLarge)
        }
    }

    @Test func aCancelledReaderStopsInTheMiddleOfDecoding() async throws {
        let response = try MockResponse.coded(Data(count: 20 << 20))
        try await withMockClient(configure: { $0.decodingLimits.maximumRatio = nil }, routes: { $0.on("/a", response) })
        {
            session, _ in
            let reader = Task {
                var count = 0
                for try await chunk in try await session.get("/a").bytes().body {
                    count += chunk.count
                    withUnsafeCurrentTask { $0?.cancel() }
                }
                return count
            }
            let result = await reader.result
            #expect(throws: SessionError.self) { try result.get() }
        }
    }

    @Test func backpressureReachesTheConnection() async throws {
        let stub = StubTransport.Body()
        let session = try makeClient(StubTransport { _ in .stream(stub, headerFields: [.contentEncoding: "gzip"]) })
        let coded = try ContentCoding.gzip.encoded(makeBytes(4 << 20))
        let response = try await session.get("a").bytes()
        #expect(!stub.send(coded))
        stub.finish()
        #expect(try await response.body.collect(upTo: 8 << 20) == makeBytes(4 << 20))
        await session.shutdown()
    }
}
