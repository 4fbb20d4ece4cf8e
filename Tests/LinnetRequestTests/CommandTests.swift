import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

private let linnet = BuiltProgram("linnet")

/// `linnet` against a server, as a user runs it.
@Suite(.timeLimit(.minutes(2)), .enabled(if: linnet.exists, "linnet is not beside the tests"))
struct CommandTests {
    private func run(
        _ arguments: [String], answer: @escaping MockServer.Handler = { _ in .text("hello") }
    ) async throws -> (Command, [RecordedRequest]) {
        try await withMockServer(handler: answer) { server in
            let words = arguments.map { $0.replacing("URL", with: "127.0.0.1:\(server.port)") }
            return (try await linnet.run(words), server.recordedRequests)
        }
    }

    @Test func theBodyIsPrintedAndNothingElse() async throws {
        let (run, requests) = try await run(["URL/a", "q==x y", "X-Key:1"])
        #expect(run.status == 0 && run.text == "hello" && run.errors.isEmpty, "\(run.errors)")
        #expect(requests.map(\.target) == ["/a?q=x%20y"] && requests[0].headerFields[HTTPField.Name("X-Key")!] == "1")
    }

    @Test func itemsAreSent() async throws {
        let (run, requests) = try await run(["post", "URL/posts", "name=x", "age:=3"])
        #expect(run.status == 0 && requests.map(\.method) == [.post], "\(run.errors)")
        #expect(requests[0].bodyText == #"{"name":"x","age":3}"#)
    }

    @Test func aFormWithAFileIsSent() async throws {
        try await Scratch.with { scratch in
            let file = try scratch.write("a.jpg", "picture")
            let (run, requests) = try await run(["post", "URL", "name=x", "age:=3", "file@\(file)"])
            #expect(run.status == 0, "\(run.errors)")
            for part in [
                "name=\"name\"\r\n\r\nx", "name=\"age\"\r\n\r\n3", "filename=\"a.jpg\"", "image/jpeg",
                "\r\n\r\npicture",
            ] {
                #expect(requests[0].bodyText.contains(part), "\(part)")
            }
        }
    }

    @Test func theHeadIsPrintedAsTheServerWroteIt() async throws {
        let response = MockResponse.raw("HTTP/1.1 201 Made\r\nX-a: 1\r\nCONTENT-length: 2\r\n\r\nhi")
        for (option, body) in [("-i", "hi"), ("--print=h", "")] {
            let (run, _) = try await run([option, "URL"]) { _ in response }
            #expect(run.text == "HTTP/1.1 201 Made\r\nX-a: 1\r\nCONTENT-length: 2\r\n\r\n" + body, "\(run.errors)")
        }
        let (head, requests) = try await run(["-I", "URL"])
        #expect(head.text.hasPrefix("HTTP/1.1 200 OK\r\n") && requests.map(\.method) == [.head], "\(head.errors)")
    }

    @Test func thePartsOfTheRequestArePrinted() async throws {
        let (run, _) = try await run(["--print=HBhb", "-u", "a:secret", "URL/p", "x=1"])
        #expect(run.text.hasPrefix("POST /p\r\nHost: 127.0.0.1:"), "\(run.text)")
        #expect(run.text.contains("\r\n\r\n{\"x\":\"1\"}\n\nHTTP/1.1 200 OK\r\n") && run.text.hasSuffix("hello"))
        #expect(run.text.contains("Authorization: <redacted>") && !run.text.contains("YTpzZWNyZXQ"))
    }

    @Test func redirectsAreFollowedOnlyOnRequest() async throws {
        let answer: MockServer.Handler = { $0.path == "/end" ? .text("end") : .redirect(to: "/end") }
        let (first, requests) = try await run(["URL/a"], answer: answer)
        #expect(first.status == 0 && first.text.isEmpty && requests.count == 1, "\(first.errors)")
        let (second, more) = try await run(["-iL", "URL/a"], answer: answer)
        #expect(
            second.text.hasPrefix("HTTP/1.1 302 Found\r\n") && second.text.hasSuffix("\r\n\r\nend"), "\(second.text)")
        #expect(more.map(\.path) == ["/a", "/end"])
    }

    @Test func verboseOutputIsOnStandardError() async throws {
        let (run, _) = try await run(["-vL", "URL/a", "-H", "X-A: 1"]) {
            $0.path == "/end" ? .text("end") : .redirect(to: "/end")
        }
        let lines = run.errors.split(separator: "\n").map(String.init)
        #expect(run.text == "end")
        for line in ["> GET /a", "> X-A: 1", "< HTTP/1.1 302 Found", "> GET /end", "< HTTP/1.1 200 OK"] {
            #expect(lines.contains(line), "\(run.errors)")
        }
        let places = ["> GET /a", "< HTTP/1.1 302 Found", "> GET /end"].compactMap { lines.firstIndex(of: $0) }
        #expect(places == places.sorted())
        #expect(lines.contains { $0.hasPrefix("* 127.0.0.1:") && $0.hasSuffix(", no TLS") }, "\(run.errors)")
    }

    @Test func theBodyIsStored() async throws {
        try await Scratch.with { scratch in
            let file = try scratch.write("a", "old")
            let (run, _) = try await run(["-i", "-o", file, "URL/b.txt"])
            #expect(run.status == 0 && run.text.hasSuffix("\r\n\r\n"), "\(run.errors)")
            #expect(try scratch.read("a") == Data("hello".utf8))
            let (missing, _) = try await self.run(["-o", file, "URL/b.txt"]) { _ in .text("gone", status: .notFound) }
            #expect(missing.status == 22 && missing.text.isEmpty)
            #expect(try scratch.read("a") == Data("gone".utf8))
            let (unwritable, _) = try await self.run(["-o", scratch.file("no/folder"), "URL"])
            #expect(
                unwritable.status == 23 && unwritable.errors.hasPrefix("linnet: fileFailed: "), "\(unwritable.errors)")
        }
    }

    @Test func theStatusDecidesTheExitCode() async throws {
        let (run, _) = try await run(["URL"]) { _ in .text("no", status: .init(code: 404)) }
        #expect(run.status == 22 && run.text == "no" && run.errors.isEmpty, "\(run.errors)")
        let refused = try await linnet.run(["127.0.0.1:1"])
        #expect(refused.status == 7 && refused.errors.hasPrefix("linnet: connectionFailed: "), "\(refused.errors)")
        let slow = try await self.run(["URL", "--timeout", "0.2"]) { _ in .text("late").delayed(by: .seconds(60)) }
        #expect(slow.0.status == 28, "\(slow.0.errors)")
        for wrong in [["ftp://x"], ["--nonsense"], []] {
            let run = try await linnet.run(wrong)
            #expect(run.status == 64 && !run.errors.isEmpty && run.text.isEmpty, "\(wrong): \(run.errors)")
        }
    }

    @Test func anyCertificateIsAcceptedWithAWarning() async throws {
        let identity = try TestPKI().identity()
        try await withMockServer(.text("hello"), tls: identity) { server in
            let url = "https://127.0.0.1:\(server.port)"
            let refused = try await linnet.run([url])
            #expect(refused.status == 60 && refused.errors.contains("trustRefused"), "\(refused.errors)")
            let run = try await linnet.run(["-kv", url])
            #expect(run.status == 0 && run.text == "hello")
            #expect(run.errors.hasPrefix("linnet: -k accepts any certificate: a party on the way"), "\(run.errors)")
            #expect(run.errors.contains("\n* certificate 0: ") && run.errors.contains("sha256/"), "\(run.errors)")
            #expect(server.recordedRequests.count == 1)
        }
    }

    @Test func theHelpHasTheSubcommands() async throws {
        let run = try await linnet.run(["--help"])
        for text in ["linnet post example.com", "request (default)", "pins", "reach", "transfers"] {
            #expect(run.status == 0 && run.text.contains(text), "\(text)")
        }
        let request = try await linnet.run(["request", "--help"])
        #expect(request.text.contains("Exit codes") && request.text.contains("--cacert"))
        for command in ["pins", "reach", "transfers"] {
            let run = try await linnet.run([command, "--help"])
            #expect(run.status == 0 && run.text.contains("  linnet \(command) "), "\(run.text)")
        }
        #expect(try await linnet.run(["pins", "127.0.0.1:1"]).errors.hasPrefix("linnet pins: "))
    }
}
