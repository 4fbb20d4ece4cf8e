import FoundationEssentials
import Linnet
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct HTTPBinContentTests {
    private struct Slides: Decodable, Sendable {
        struct Slideshow: Decodable, Sendable {
            let author: String
            let title: String
        }

        let slideshow: Slideshow
    }

    @Test(
        arguments: [
            ("image/png", "image/png"), ("image/jpeg", "image/jpeg"), ("image/webp", "image/webp"),
            ("image/svg", "image/svg+xml"), ("html", "text/html"), ("xml", "application/xml"),
            ("robots.txt", "text/plain"), ("bytes/16", "application/octet-stream"),
        ], Surface.allCases)
    func otherContentTypesAreNotAcceptedAsJSON(page: (path: String, type: String), surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let error = await #expect(throws: SessionError.self) {
                try await surface.send(.get, page.path, on: session)
            }
            #expect(error?.code == .unacceptableContentType)
            #expect(error?.head?.status == .ok)
            #expect(error?.message.contains(page.type) == true)
            #expect(error?.body?.isEmpty == false)
        }
    }

    @Test(arguments: [("image/png", [0x89, 0x50, 0x4E, 0x47]), ("image/jpeg", [0xFF, 0xD8, 0xFF] as [UInt8])])
    func anImageCanBeReceivedAsData(path: String, beginning: [UInt8]) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await session.get(path).response()
            #expect(response.head.headerFields[.contentType] == path)
            #expect(response.value.starts(with: beginning))
            #expect(response.head.headerFields[.contentLength] == String(response.value.count))
        }
    }

    @Test(arguments: Surface.allCases)
    func aUTF8PageIsDecodedAsText(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.send(
                .get, "encoding/utf8", on: session, serializer: StringResponseSerializer())
            #expect(response.head.headerFields[.contentType] == "text/html; charset=utf-8")
            #expect(response.value.contains("∮ E⋅da = Q"))
            #expect(response.value.contains("ሰማይ አይታረስ ንጉሥ አይከሰስ።"))
            #expect(response.value.contains("STARGΛ̊TE"))
            #expect(Data(response.value.utf8) == response.data)
        }
    }

    @Test(arguments: Surface.allCases)
    func anHTMLPageIsDecodedAsText(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.send(.get, "html", on: session, serializer: StringResponseSerializer())
            #expect(response.value.contains("Herman Melville - Moby-Dick"))
        }
    }

    @Test func jsonDecodesIntoAType() async throws {
        try await Server.httpbin.withSession { session in
            let show = try await session.get("json").value(as: Slides.self).slideshow
            #expect(show.author == "Yours Truly")
            #expect(show.title == "Sample Slide Show")
        }
    }

    // httpbin uses one generator for all of its threads, so the bytes themselves are not predictable.
    @Test(arguments: [0, 1, 1000, 65_536, 102_400], Surface.allCases)
    func theRequestedNumberOfBytesIsReceived(count: Int, surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.data("bytes/\(count)", on: session)
            #expect(response.value.count == count)
            #expect(response.head.headerFields[.contentLength] == String(count))
        }
    }

    @Test(arguments: [1, 333, 10_000], Surface.allCases)
    func theRequestedNumberOfChunkedBytesIsReceived(chunkSize: Int, surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.send(
                .get, "stream-bytes/10000", on: session, parameters: ["chunk_size": ParameterValue(chunkSize)],
                serializer: DataResponseSerializer())
            #expect(response.head.headerFields[.transferEncoding] == "chunked")
            #expect(response.head.headerFields[.contentLength] == nil)
            #expect(response.value.count == 10_000)
        }
    }

    @Test(arguments: [1, 20, 100])
    func aStreamOfLinesIsReceivedCompletelyAndInOrder(count: Int) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await session.get("stream/\(count)").bytes()
            #expect(response.status == .ok)
            var text = Data()
            for try await chunk in response.body { text.append(chunk) }
            let lines = text.split(separator: UInt8(ascii: "\n"))
            let numbers = try lines.map { try JSONValue(parsing: Data($0))["id"]?.int }
            #expect(numbers == Array(0..<count))
        }
    }

    @Test func slowBytesAreReadAsTheyArrive() async throws {
        try await Server.httpbin.withSession { session in
            let request = try session.call(.get, "drip", ["duration": 2, "numbytes": 5, "delay": 0, "code": 200])
                .request()
            let response = try await session.call(request).bytes()
            let body = try await response.body.collect(upTo: 5)
            #expect(body == Data("*****".utf8))
            // Measured on the event loop: a busy machine can resume the test late.
            let metrics = try #require(response.metrics.last)
            let start = try #require(metrics.responseStart)
            let end = try #require(metrics.responseEnd)
            #expect(end - start > .seconds(1))
        }
    }

    @Test(arguments: Surface.allCases)
    func aDelayedResponseIsReceived(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.send(.get, "delay/1", on: session)
            #expect(response.value?["url"]?.string?.hasSuffix("/delay/1") == true)
        }
    }

    @Test(arguments: Surface.allCases)
    func aSilentServerCausesTheIdleTimeout(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            var options = RequestOptions()
            options.idleTimeout = .milliseconds(200)
            let error = await #expect(throws: SessionError.self) {
                try await surface.send(.get, "delay/5", on: session, options: options)
            }
            #expect(error?.code == .timeout)
            #expect(error?.timeout == .idleRead)
        }
    }

    @Test(arguments: Surface.allCases)
    func aSilentServerCausesTheRequestTimeout(surface: Surface) async throws {
        try await Server.httpbin.withSession {
            $0.timeouts.request = .milliseconds(200)
        } run: { session in
            let error = await #expect(throws: SessionError.self) {
                try await surface.send(.get, "delay/5", on: session)
            }
            #expect(error?.code == .timeout)
            #expect(error?.timeout == .request)
        }
    }
}
