import ArgumentParser
import CommandSupport
import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetJSON
import Testing

@testable import LinnetRequestCommand

/// The plan of a command line, without a server.
@Suite(.timeLimit(.minutes(1)))
struct PlanTests {
    private func plan(_ line: String) throws -> RequestPlan {
        try plan(line.split(separator: " ").map(String.init))
    }

    private func plan(_ words: [String]) throws -> RequestPlan { try RequestPlan(Arguments.parse(words)) }

    private func body(_ words: [String]) throws -> String? {
        try plan(words).request.body?.data.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("example.com", "https://example.com"), ("example.com:8443/a", "https://example.com:8443/a"),
        ("http://example.com/", "http://example.com/"), ("localhost:8080/a", "http://localhost:8080/a"),
        ("127.0.0.1/a", "http://127.0.0.1/a"), ("[::1]:80/", "http://[::1]:80/"),
        (":8080/a", "http://localhost:8080/a"),
        ("api.localhost", "http://api.localhost"), ("localhost.example.com", "https://localhost.example.com"),
        ("example.com/?a=1 b==2&3 c==x/y", "https://example.com/?a=1&b=2%263&c=x/y"),
        ("example.com/#end q==1", "https://example.com/?q=1#end"),
    ])
    func aURLIsCompleted(line: String, url: String) throws {
        #expect(try plan(line).request.url.absoluteString == url)
    }

    @Test(arguments: [
        ("example.com", "GET"), ("example.com a=1", "POST"), ("example.com -d a", "POST"),
        ("put example.com a=1", "PUT"),
        ("DELETE example.com", "DELETE"), ("-I example.com", "HEAD"), ("-XPROPFIND example.com", "PROPFIND"),
        ("-X PUT example.com -d a", "PUT"), ("example.com q==1", "GET"), ("post", "GET"),
    ])
    func aMethodIsGivenOrFollowsFromTheData(line: String, method: String) throws {
        #expect(try plan(line).request.method.rawValue == method)
    }

    @Test func itemsAreAnObjectInTheirOrder() throws {
        #expect(
            try body(["example.com", "name=x y", "age:=3", "tags:=[\"a\"]", "ok:=true", "e="])
                == #"{"name":"x y","age":3,"tags":["a"],"ok":true,"e":""}"#)
        let fields = try plan("example.com name=x").request.headerFields
        #expect(fields[.contentType] == "application/json" && fields[.accept] == "application/json, */*;q=0.5")
    }

    @Test func itemsAreAForm() throws {
        #expect(try body(["example.com", "--form", "a=x y&z", "b:=3", "a=2"]) == "a=x+y%26z&b=3&a=2")
        let fields = try plan("example.com --form a=1").request.headerFields
        #expect(fields[.contentType] == "application/x-www-form-urlencoded" && fields[.accept] == nil)
    }

    @Test func dataIsSentAsItIs() throws {
        #expect(try body(["example.com", "-d", "a=1", "-d", "b=2"]) == "a=1&b=2")
        #expect(try plan("example.com -d a").request.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(try plan("example.com -d {} --json").request.headerFields[.contentType] == "application/json")
    }

    @Test func filesAreReadForItemsAndData() async throws {
        try await Scratch.with { scratch in
            let text = try scratch.write("a.txt", "hello")
            let json = try scratch.write("a.json", #"{"b": [1]}"#)
            #expect(try body(["example.com", "t=@\(text)", "j:=@\(json)"]) == #"{"t":"hello","j":{"b":[1]}}"#)
            let file = try plan(["put", "example.com", "-d", "@\(json)"]).request
            #expect(file.headerFields[.contentType] == "application/json" && file.body?.length == 10)
            let form = try plan(["example.com", "file@\(text)", "name=x", "age:=3"]).request
            #expect(form.headerFields[.contentType]?.hasPrefix("multipart/form-data; boundary=") == true)
            #expect(throws: UsageError.self) { try plan(["example.com", "file@\(scratch.file("missing"))"]) }
            #expect(throws: UsageError.self) { try plan(["example.com", "-d", "@\(scratch.file("missing"))"]) }
            #expect(throws: UsageError.self) { try plan(["example.com", "a=@\(scratch.file("missing"))"]) }
        }
    }

    @Test func headerFieldsComeFromOptionsAndItems() throws {
        let fields = try plan([
            "example.com", "-H", "X-A: 1", "X-B:2", "-u", "user:pass:word", "-H", "Accept: a/b", "--json",
        ])
        .request.headerFields
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                "X-A: 1", "Accept: a/b", "X-B: 2", "Authorization: Basic dXNlcjpwYXNzOndvcmQ=",
            ])
    }

    @Test(arguments: [
        "", "ftp://example.com", "https://", "example.com word", "example.com =x", "example.com a:=x",
        "post example.com -X PUT", "example.com -d a b=1", "example.com --form --json a=1", "example.com -o a -O",
        "example.com -O", "example.com/.hidden -O", "example.com -o folder/", "example.com --print=x",
        "example.com -i --print=h", "example.com -u name", "example.com -u a:b Authorization:x", "example.com --har a/",
        "example.com -k --pin sha256/x", "http://example.com --cacert a.pem", "example.com --timeout 0",
        "example.com --timeout nan", "example.com --proxy ftp://x", "example.com -C", "example.com --sse --ws",
        "example.com --sse -o a",
        "example.com --background", "example.com --background -o a -k", "example.com --resolve a:1",
        "example.com --retry=-1", "example.com --retry 101",
        "example.com --http1 --http2", "example.com --key a", "http://example.com --cert a",
        "example.com --cert missing",
        "example.com --policy missing", "example.com --policy a --pin sha256/x", "example.com X\u{7F}:1",
    ])
    func aWrongLineIsAUsageError(line: String) {
        #expect(throws: UsageError.self) { try plan(line) }
    }

    @Test func theOutputFollowsTheOptions() throws {
        #expect(try plan("example.com").output.parts == .responseBody)
        #expect(try plan("example.com -i").output.parts == [.responseHead, .responseBody])
        #expect(try plan("example.com -I").output.parts == .responseHead)
        #expect(try plan("example.com --print=HBhb").output.parts.rawValue == 15)
        #expect(try plan("example.com/a/b.iso -O").output.file?.lastPathComponent == "b.iso")
        #expect(try plan("example.com -o -").output.file == nil)
        #expect(try plan("example.com -L").connection.redirects == .follow)
        #expect(try plan("example.com").connection.redirects == .doNotFollow)
    }

    @Test(
        arguments: [
            (SessionError.Code.nameResolutionFailed, 6), (.connectionFailed, 7), (.timeout, 28), (.tlsFailed, 35),
            (.tooManyRedirects, 47), (.connectionLost, 52), (.trustRefused, 60), (.invalidResponse, 1),
        ] as [(SessionError.Code, Int32)])
    func aFailureHasAnExitCode(code: SessionError.Code, status: Int32) {
        #expect(ErrorLine(SessionError(code, "It failed"), tokenFile: nil).exitCode == status)
    }
}
