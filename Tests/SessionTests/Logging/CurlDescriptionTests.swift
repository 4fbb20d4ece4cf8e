import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct CurlDescriptionTests {
    private static let hasCurl = (try? Command.run(["curl", "--version"]))?.status == 0
    private static let url = URL(string: "http://example.com/a?b=c")

    @Test func aSimpleRequestIsASimpleCommand() throws {
        let request = SessionRequest(url: try #require(Self.url), headerFields: [.accept: "*/*", .userAgent: "x"])
        #expect(
            request.curlDescription()
                == "curl --globoff --path-as-is --header 'Accept: */*' --header 'User-Agent: x' 'http://example.com/a?b=c'"
        )
    }

    @Test func secretsAreHiddenUnlessAskedFor() throws {
        let url = try #require(URL(string: "http://ada:s3cret@example.com/a?b=c&Access_Token=s3cret&x=1#f"))
        let request = SessionRequest(
            url: url, headerFields: [.cookie: "s3cret=s3cret", .proxyAuthorization: "s3cret", .accept: "shown"])
        let hidden = request.curlDescription()
        #expect(!hidden.contains("s3cret"))
        #expect(!hidden.contains("YWRhOn"))
        #expect(hidden.contains("'Authorization: <redacted>'"))
        #expect(hidden.contains("'http://example.com/a?b=c&Access_Token=<redacted>&x=1#f'"))
        #expect(hidden.contains("shown"))
        let shown = request.curlDescription(redaction: .insecureShowEverything)
        #expect(shown.contains("Access_Token=s3cret"))
        #expect(shown.contains("'Cookie: s3cret=s3cret'"))
        #expect(shown.contains(HTTPFields.basicAuthorization(username: "ada", password: "s3cret")))
        var own = Redaction(fieldNames: [.accept], queryNames: ["b"])
        own.queryNames.insert("x")
        #expect(request.curlDescription(redaction: own).contains("b=<redacted>&Access_Token=s3cret&x=<redacted>"))
        #expect(!request.curlDescription(redaction: own).contains("shown"))
        #expect(!request.curlDescription(redaction: own).contains("ada"))
    }

    @Test func fieldsThatAreURLsAndFragmentsAreHiddenToo() throws {
        let url = try #require(
            URL(string: "http://example.com/a?x=1&token=s3cret?code=s3cret#access_token=s3cret&y=2;token=s3cret"))
        let fields: HTTPFields = [
            .referer: "https://ada:s3cret@example.com/?code=s3cret&z=3", .location: "/b?Signature=s3cret",
            .contentLocation: "http://[s3cret",
        ]
        let request = SessionRequest(url: url, headerFields: fields)
        let hidden = request.curlDescription()
        #expect(!hidden.contains("s3cret"))
        let shown =
            "http://example.com/a?x=1&token=<redacted>?code=<redacted>#access_token=<redacted>&y=2;token=<redacted>"
        #expect(hidden.contains("'\(shown)'"))
        #expect(hidden.contains("'Referer: https://example.com/?code=<redacted>&z=3'"))
        #expect(hidden.contains("'Location: /b?Signature=<redacted>'"))
        #expect(request.curlDescription(redaction: .insecureShowEverything).contains("ada:s3cret@"))
    }

    @Test func anInexpressibleSettingIsARemark() throws {
        let stream = HTTPRequestBody.stream(length: nil, isReplayable: true) { OnceReader() }
        let request = try makeRequest("a", method: .post, body: stream)
        #expect(request.curlDescription().hasSuffix("http://example.com/a  # the body is a stream and is not shown"))
        let large = try makeRequest("a", method: .post, body: .data(Data(repeating: 0x61, count: 1_000_000)))
        #expect(large.curlDescription().hasSuffix("# the body of 1000000 bytes is not shown"))
    }

    @Test func aFixedProxyIsNamedWithoutItsPassword() throws {
        var configuration = HTTPSession.Configuration()
        configuration.proxies = .fixed(try Proxy("socks5h://ada:secret@proxy.example"), except: ["example.org"])
        let session = try HTTPSession(configuration: configuration, transport: StubTransport())
        let command = try session.get("http://example.com/a").curlDescription()
        #expect(command.hasPrefix("curl --proxy socks5h://proxy.example:1080 --globoff"))
        #expect(!command.contains("ada") && !command.contains("secret"))
        #expect(try !session.get("http://example.org/a").curlDescription().contains("--proxy"))
    }

    @Test func theUnixSocketOfTheHostIsNamed() throws {
        var configuration = HTTPSession.Configuration()
        configuration.proxies = .fixed(try Proxy("socks5h://proxy.example"))
        configuration.resolution.unixSockets = ["Docker": "/run/my docker.sock"]
        let session = try HTTPSession(configuration: configuration, transport: StubTransport())
        let command = try session.get("http://docker/info").curlDescription()
        #expect(command.hasPrefix("curl --unix-socket '/run/my docker.sock' --globoff"))
        #expect(!command.contains("--proxy"))
        #expect(try session.get("http://example.org/a").curlDescription().contains("--proxy"))
    }

    @Test(
        arguments: [
            ("192.0.2.1", nil, "'host!192.0.2.1'"), (nil, "eth0", "'if!eth0'"),
            ("192.0.2.1", "eth0", "'ifhost!eth0!192.0.2.1'"),
        ] as [(String?, String?, String)])
    func theLocalAddressIsNamed(address: String?, interface: String?, word: String) throws {
        var configuration = HTTPSession.Configuration()
        configuration.resolution.localAddress = address
        configuration.resolution.networkInterface = interface
        let session = try HTTPSession(configuration: configuration, transport: StubTransport())
        let command = try session.get("http://example.org/a").curlDescription()
        #expect(command.hasPrefix("curl --interface \(word) --globoff"))
    }

    @Test func theCommandHasTheSessionsFields() throws {
        var configuration = HTTPSession.Configuration()
        configuration.headerFields = [.userAgent: "Finch"]
        let session = try HTTPSession(configuration: configuration, transport: StubTransport())
        #expect(try session.call(makeRequest()).curlDescription().contains("'User-Agent: Finch'"))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTPRequest.Method.post
        var path = "/a"
        var fields: HTTPFields = [:]
        var body: Data?

        init(_ description: String, _ configure: (inout Case) -> Void) {
            testDescription = description
            configure(&self)
        }
    }

    static let cases: [Case] = [
        Case("GET") { $0.method = .get },
        Case("HEAD") { $0.method = .head },
        Case("OPTIONS") { $0.method = .options },
        Case("GET with a body") {
            $0.method = .get
            $0.body = Data("body".utf8)
        },
        Case("PUT") {
            $0.method = .put
            $0.body = Data(#"{"it's": "$HOME `x` \\ !"}"#.utf8)
            $0.fields = [.contentType: "application/json"]
        },
        Case("DELETE") { $0.method = .delete },
        Case("no body") { _ in },
        Case("an empty body") { $0.body = Data() },
        Case("a body that begins with @ and has lines") { $0.body = Data("@/etc/passwd\r\n\n ' \" \t\n".utf8) },
        Case("bytes that are no text") { $0.body = Data((0...255).map { UInt8($0) } + [0, 0x25, 0x5C]) },
        Case("text beyond ASCII") { $0.body = Data("ä 日本 🐦".utf8) },
        Case("quotes with combining marks") { $0.body = Data("'\u{301};exit 7;'\u{20DD}$(exit 7)'\u{FE0F}".utf8) },
        Case("globs and dots in the path") { $0.path = "/a/../b/./{c,d}[1-3]?q='$(id)'&r=%20*" },
        Case("fields") {
            var fields: HTTPFields = [.accept: "it's", .userAgent: "\"x\"", .cookie: "a=b; c=d"]
            fields.append(HTTPField(name: .acceptLanguage, value: ""))
            $0.fields = fields
        },
        Case("credentials") { $0.fields = [.authorization: "Bearer abc=="] },
        Case("a field twice") {
            var fields: HTTPFields = [.acceptLanguage: "en"]
            fields.append(HTTPField(name: .acceptLanguage, value: "de"))
            $0.fields = fields
        },
    ]

    @Test(.enabled(if: hasCurl, "curl is not installed"), arguments: cases)
    func curlSendsTheSame(testCase: Case) async throws {
        try await withMockClient {
            $0.on("/*", .text("ok"))
        } perform: { client, server in
            let request = SessionRequest(
                url: try server.url(testCase.path), method: testCase.method, headerFields: testCase.fields,
                body: testCase.body.map { .data($0) })
            let call = client.call(request)
            _ = try await call.response()
            let command = try call.curlDescription(redaction: .insecureShowEverything)
            let run = try await Command.run(["sh", "-c", command + " --silent --show-error --output /dev/null"])
            #expect(run.status == 0, "\(run.errors)")
            let (ours, curls) = (server.recordedRequests[0], try #require(server.recordedRequests.last))
            #expect(server.recordedRequests.count == 2)
            #expect(curls.method == ours.method)
            #expect(curls.target == ours.target)
            #expect(curls.body == ours.body)
            #expect(Self.sorted(curls.headerFields) == Self.sorted(ours.headerFields))
        }
    }

    private static func sorted(_ fields: HTTPFields) -> [String] {
        fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    }

    @Test func aBodyOfHEADIsNamed() throws {
        let url = try #require(Self.url)
        let request = SessionRequest(
            url: url, method: .head, headerFields: [.accept: "*/*", .userAgent: "x"], body: .data(Data("body".utf8)))
        #expect(
            request.curlDescription()
                == "curl --globoff --path-as-is --head --header 'Accept: */*' --header 'User-Agent: x' 'http://example.com/a?b=c'"
                + "  # curl sends no body with HEAD")
    }

    @Test(.enabled(if: hasCurl, "curl is not installed"))
    func aFileIsSentByItsName() async throws {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "linnet curl 'x' \(UInt64.random(in: 0 ... .max))")
        try Data("from a file\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withMockServer(.text("ok")) { server in
            let request = SessionRequest(url: server.url, method: .put, body: try .file(file))
            let run = try await Command.run(["sh", "-c", request.curlDescription() + " --silent --show-error"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(server.recordedRequests.map(\.bodyText) == ["from a file\n"])
        }
    }
}
