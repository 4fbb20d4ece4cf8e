import CommandSupport
import FoundationEssentials
import HTTPTypes
import Linnet
import LinnetImageSerialization
import LinnetTesting
import Synchronization
import Testing

/// Each program in Examples/Recipes, with a server.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Recipe.areBuilt, "the recipes are not beside the tests"))
struct RecipesTests {
    @Test func aPinnedRequestPrintsTheBodyOrTheReasonOfTheRefusal() async throws {
        let authority = try TestPKI(named: "Recipes")
        let identity = try authority.identity()
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        try await Recipe.withFolder { folder in
            let file = folder.appending(path: "root.der")
            try authority.root.derBytes.write(to: file)
            let server = try await MockServer.start(tls: identity, configuration: configuration) { _ in .text("hello") }
            let url = server.url.absoluteString
            let good = try await Recipe.run("pinned-request", url, "\(identity.pin)", "--authority", file.path)
            let wrong = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            let bad = try await Recipe.run("pinned-request", url, wrong, "--authority", file.path)
            let requests = server.recordedRequests
            await server.shutdown()
            #expect(good.status == 0 && good.text == "hello\n")
            #expect(bad.status == 1)
            #expect(bad.text.contains("refused: pinMismatch") && bad.text.contains("\(identity.pin)"))
            #expect(requests.count == 1)
        }
    }

    @Test func aDownloadContinuesWhereTheLastRunEnded() async throws {
        let content = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        try await Recipe.withFolder { folder in
            let file = folder.appending(path: "file")
            let server = try await MockServer.start { request in
                let fields: HTTPFields = [.eTag: "\"1\"", .acceptRanges: "bytes"]
                guard let range = request.headerFields[.range],
                    let start = Int(range.filter(\.isNumber)), request.headerFields[.ifRange] == "\"1\""
                else {
                    return MockResponse(headerFields: fields, body: .bytes(content))
                        .with(.init(.reset, at: .responseBody(after: 300_000)))
                }
                var response = MockResponse(
                    status: .partialContent, headerFields: fields, body: .bytes(Data(content[start...])))
                response.headerFields[.contentRange] = "bytes \(start)-\(content.count - 1)/\(content.count)"
                return response
            }
            let url = server.url.absoluteString
            let first = try await Recipe.run("resumable-download", url, file.path)
            let second = try await Recipe.run("resumable-download", url, file.path)
            await server.shutdown()
            #expect(first.status == 1)
            #expect(second.status == 0)
            #expect(second.text.contains("continued"))
            #expect(try Data(contentsOf: file) == content)
        }
    }

    @Test func backgroundDownloadsAreLeftToTheNextRun() async throws {
        let content = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        try await Recipe.withFolder { folder in
            try await withMockServer(MockResponse(body: .bytes(content))) { server in
                let journal = folder.appending(path: "journal").path
                let urls = try ["/a", "/b", "/c"].map { try server.url($0).absoluteString }
                let run = try await Recipe.run(
                    "background-downloads", "--journal", journal, "--to", folder.path, urls[0], urls[1], urls[2])
                #expect(run.status == 0, "\(run.text)\(run.errors)")
                for name in ["a", "b", "c"] {
                    #expect(run.text.contains("completed \(name)"))
                    #expect(try Data(contentsOf: folder.appending(path: name)) == content)
                }
                let next = try await Recipe.run("background-downloads", "--journal", journal)
                #expect(next.status == 0 && !next.text.contains("changed"))
            }
        }
    }

    @Test func filesAreUploadedAsAForm() async throws {
        try await Recipe.withFolder { folder in
            let file = folder.appending(path: "bird.txt")
            try Data("a linnet".utf8).write(to: file)
            try await withMockServer(.status(.created)) { server in
                let run = try await Recipe.run("form-upload", server.url.absoluteString, file.path, "--title", "Birds")
                #expect(run.status == 0)
                #expect(run.text.contains("100 %") && run.text.contains("201"))
                let request = try await server.nextRequest()
                #expect(request.bodyText.contains("filename=\"bird.txt\"") && request.bodyText.contains("a linnet"))
                #expect(request.bodyText.contains("Birds"))
            }
        }
    }

    @Test func aTokenIsRequestedOnceForAllRequests() async throws {
        let routes = MockServer.Routes {
            $0.on(.post, "/token", .json(#"{"access":"t1"}"#))
            $0.on(.get, "/posts") {
                $0.headerFields[.authorization] == "Bearer t1" ? .text("post") : .status(.unauthorized)
            }
        }
        let server = try await MockServer.start(routes: routes)
        let run = try await Recipe.run(
            "token-refresh", server.url("/posts").absoluteString, server.url("/token").absoluteString)
        let tokens = server.recordedRequests.count { $0.path == "/token" }
        await server.shutdown()
        #expect(run.status == 0)
        #expect(run.text == "post\npost\npost\n")
        #expect(tokens == 1)
    }

    /// The API refuses the first token, and the issuer has no other one.
    @Test func aFailedRefreshIsNoAPIErrorAndEndsTheUseOfTheToken() async throws {
        let issued = Mutex(0)
        let routes = MockServer.Routes {
            $0.on(.post, "/token") { _ in
                let isFirst = issued.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? .json(#"{"access":"t1"}"#) : .status(.serviceUnavailable)
            }
            $0.on(.get, "/posts", .status(.unauthorized))
        }
        let server = try await MockServer.start(routes: routes)
        let run = try await Recipe.run(
            "token-refresh", server.url("/posts").absoluteString, server.url("/token").absoluteString, "--count", "4",
            "--rounds", "3")
        let requests = server.recordedRequests
        await server.shutdown()
        // A request of the first round may find the first token, or wait for it.
        let failed = run.text.ranges(of: "no token: ").count
        #expect(failed >= 8 && failed + run.text.ranges(of: "unacceptableStatus: ").count == 12)
        #expect(run.text.contains("503"))
        // Later rounds have no token to send.
        #expect(requests.count { $0.path == "/posts" } <= 8)
    }

    /// The first token is refused. A token that was just issued for a request is not renewed for it.
    @Test func aRefusedTokenIsRenewedForTheNextRequest() async throws {
        let issued = Mutex(0)
        let routes = MockServer.Routes {
            $0.on(.post, "/token") { _ in
                let number = issued.withLock { count in
                    count += 1
                    return count
                }
                return .json("{\"access\":\"t\(number)\"}")
            }
            $0.on(.get, "/posts") {
                $0.headerFields[.authorization] == "Bearer t2" ? .text("post") : .status(.unauthorized)
            }
        }
        let server = try await MockServer.start(routes: routes)
        let run = try await Recipe.run(
            "token-refresh", server.url("/posts").absoluteString, server.url("/token").absoluteString, "--count", "1",
            "--rounds", "2")
        let sent = server.recordedRequests.filter { $0.path == "/posts" }.map { $0.headerFields[.authorization] }
        await server.shutdown()
        #expect(run.text.hasPrefix("unacceptableStatus: "))
        #expect(run.text.hasSuffix("\npost\n"))
        #expect(sent == ["Bearer t1", "Bearer t1", "Bearer t2"])
    }

    @Test func aRequestThatWaitsForTheIssuerEndsAtItsTimeLimit() async throws {
        let stalled = MockResponse.text("").with(.init(.stall, at: .responseHead))
        let server = try await MockServer.start(routes: MockServer.Routes { $0.on(.post, "/token", stalled) })
        let run = try await Recipe.run(
            "token-refresh", server.url("/posts").absoluteString, server.url("/token").absoluteString, "--limit", "1")
        let tokens = server.recordedRequests.count { $0.path == "/token" }
        await server.shutdown()
        #expect(run.text.ranges(of: "timeout: ").count == 3)
        #expect(tokens == 1)
    }

    @Test func theStatusOfTheNetworkIsPrinted() async throws {
        let run = try await Recipe.run("reachability-watch", "--count", "1")
        #expect(run.status == 0)
        #expect(run.text.contains("reachable"))
    }

    @Test func picturesAreShownBesideEachOther() async throws {
        let red = try #require(Bitmap(width: 1, height: 2, pixels: [255, 0, 0, 255, 255, 0, 0, 255])).pngData()
        let picture = MockResponse(headerFields: [.contentType: "image/png"], body: .bytes(red))
        try await withMockServer(picture) { server in
            let url = server.url.absoluteString
            let run = try await Recipe.run("image-grid", url, url, url)
            #expect(run.status == 0)
            #expect(run.text.ranges(of: "38;2;255;0;0;48;2;255;0;0m▀").count == 3)
            #expect(server.recordedRequests.count == 1)
        }
    }

    @Test func eventsArePrinted() async throws {
        let text = "data: one\n\nevent: news\ndata: two\n\nevent: end\ndata:\n\n"
        let stream = MockResponse(headerFields: [.contentType: "text/event-stream"], body: .text(text))
        try await withMockServer(stream) { server in
            let run = try await Recipe.run("event-stream", server.url.absoluteString)
            #expect(run.status == 0)
            #expect(run.text.split(separator: "\n").prefix(2) == ["message: one", "news: two"])
        }
    }

    @Test func messagesAreSentAndReceived() async throws {
        let server = try await EchoServer.start()
        let run = try await Recipe.run("websocket-chat", server.url.absoluteString, input: "hello\nlast\n")
        await server.shutdown()
        #expect(run.status == 0)
        #expect(run.text == "hello\nlast\nbye\nclosed: 1000\n")
    }

    @Test func theCacheAnswersAgainAndOffline() async throws {
        let response = MockResponse(
            headerFields: [.contentType: "application/json", .cacheControl: "max-age=60"], body: .text("[1]"))
        try await Recipe.withFolder { folder in
            try await withMockServer(response) { server in
                let run = try await Recipe.run(
                    "cached-api-client", server.url.absoluteString, folder.appending(path: "cache").path)
                #expect(run.status == 0)
                #expect(run.text == "miss 3\nhit 3\nhit 3\n")
                #expect(server.recordedRequests.count == 1)
            }
        }
    }
}
