import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

private let linnet = BuiltProgram("linnet")

/// The stores of `linnet` for the next request, and the ways to receive other than a body.
@Suite(.timeLimit(.minutes(2)), .enabled(if: linnet.exists, "linnet is not beside the tests"))
struct StoreTests {
    @Test func cookiesAreKeptForTheNextRequest() async throws {
        try await Scratch.with { scratch in
            let file = scratch.file("cookies.txt")
            try await withMockServer(handler: { request in
                var response = MockResponse.text(request.headerFields[.cookie] ?? "none")
                response.headerFields[.setCookie] = "a=1; Max-Age=1000"
                return response
            }) { server in
                let url = "127.0.0.1:\(server.port)"
                #expect(try await linnet.run([url, "--cookies", file]).text == "none")
                #expect(try await linnet.run([url, "--cookies", file]).text == "a=1")
                let text = String(decoding: try scratch.read("cookies.txt"), as: UTF8.self)
                #expect(text.contains("127.0.0.1\tFALSE\t/\tFALSE\t"), "\(text)")
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                // A folder cannot be read as cookies, and no request is sent for them.
                let unreadable = try await linnet.run([url, "--cookies", scratch.path])
                #expect(unreadable.status == 64 && unreadable.errors.contains("cannot be read"))
                let run = try await linnet.run([url, "--cookies", scratch.file("no/cookies.txt")])
                #expect(run.status == 23 && run.text == "none", "\(run.errors)")
            }
        }
    }

    @Test func theCacheAnswersTheNextRequest() async throws {
        try await Scratch.with { scratch in
            var response = MockResponse.text("hello")
            response.headerFields[.cacheControl] = "max-age=1000"
            try await withMockServer(response) { server in
                for _ in 0..<2 {
                    let run = try await linnet.run(
                        ["127.0.0.1:\(server.port)", "--cache"], environment: ["XDG_CACHE_HOME": scratch.path])
                    #expect(run.status == 0 && run.text == "hello", "\(run.errors)")
                }
                #expect(server.recordedRequests.count == 1)
            }
        }
    }

    @Test func aDownloadGoesOnWhereItEnded() async throws {
        let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 251) })
        try await Scratch.with { scratch in
            let file = scratch.file("a.iso")
            try await withMockServer(handler: { Self.answer($0, data) }) { server in
                let arguments = ["127.0.0.1:\(server.port)/a.iso", "-C", "-o", file]
                let first = try await linnet.run(arguments)
                #expect(first.status != 0 && !FileManager.default.fileExists(atPath: file), "\(first.errors)")
                let second = try await linnet.run(arguments)
                #expect(second.status == 0, "\(second.errors)")
                #expect(try scratch.read("a.iso") == data)
                #expect(server.recordedRequests.last?.headerFields[.range]?.hasPrefix("bytes=") == true)
                #expect(!FileManager.default.fileExists(atPath: file + ".resume"))
                let missing = try await linnet.run(["127.0.0.1:\(server.port)/missing", "-C", "-o", file])
                #expect(missing.status == 22, "\(missing.errors)")
                #expect(try scratch.read("a.iso") == data)
            }
        }
    }

    /// The whole file with a connection that ends in its middle, or the asked range.
    private static func answer(_ request: RecordedRequest, _ data: Data) -> MockResponse {
        guard request.path == "/a.iso" else { return .status(.notFound) }
        let fields: HTTPFields = [.eTag: "\"v1\"", .acceptRanges: "bytes"]
        guard let range = request.headerFields[.range], let start = Int(range.dropFirst("bytes=".count).dropLast())
        else {
            return MockResponse(headerFields: fields, body: .bytes(data))
                .with(MockServer.Fault(.truncate, at: .responseBody(after: 100_000)))
        }
        var part = MockResponse(status: .partialContent, headerFields: fields, body: .bytes(data[start...]))
        part.headerFields[.contentRange] = "bytes \(start)-\(data.count - 1)/\(data.count)"
        return part
    }

    @Test func aDownloadIsHandedOver() async throws {
        try await Scratch.with { scratch in
            try await withMockServer(.text("hello")) { server in
                let environment = ["XDG_STATE_HOME": scratch.path]
                let run = try await linnet.run(
                    ["127.0.0.1:\(server.port)/a", "--background", "-o", scratch.file("a")], environment: environment)
                #expect(run.status == 0 && run.errors.hasPrefix("linnet: task 1 is waiting; "), "\(run.errors)")
                #expect(server.recordedRequests.isEmpty)
                let transfer = try await linnet.run(["transfers", "run", "--until-empty"], environment: environment)
                #expect(transfer.status == 0, "\(transfer.errors)")
                #expect(try scratch.read("a") == Data("hello".utf8))
            }
        }
    }

    @Test func eventsArePrinted() async throws {
        try await withMockServer(.events([.init("one\ntwo"), .init("three", type: "end", id: "7")])) { server in
            let run = try await linnet.run(["127.0.0.1:\(server.port)", "--sse"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.text == "data: one\ndata: two\n\nevent: end\nid: 7\ndata: three\n\n")
        }
    }

    @Test func linesAreMessages() async throws {
        let echo = MockResponse.webSocket { socket in
            for _ in 0..<2 {
                guard let frame = try await socket.nextMessage() else { return }
                try await socket.send(.text(frame.text + "!"))
            }
            try await socket.close()
        }
        try await withMockServer(echo) { server in
            let run = try await Command.run(
                [linnet.path, "ws://127.0.0.1:\(server.port)/chat", "--ws"], input: "one\ntwo\n")
            #expect(run.status == 0 && run.text == "one!\ntwo!\n", "\(run.text) \(run.errors)")
        }
        try await withMockServer(.text("no")) { server in
            let run = try await Command.run([linnet.path, "127.0.0.1:\(server.port)", "--ws"])
            #expect(run.status == 22 && run.errors.hasPrefix("linnet: "), "\(run.errors)")
        }
    }
}
