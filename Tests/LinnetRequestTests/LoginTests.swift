import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Synchronization
import Testing

private let linnetRequest = BuiltProgram("linnet-request")

/// The built executable with `--login`, and an issuer that is also the server of the request.
@Suite(.timeLimit(.minutes(2)), .enabled(if: linnetRequest.exists, "linnet-request is not beside the tests"))
struct LoginTests {
    /// An issuer whose tokens `a1`, `a2` and so on live for a time, and are accepted by `/posts` one at a time.
    private final class Issuer: Sendable {
        let count = Mutex(0)
        let lifetime: Int

        init(lifetime: Int = 3600) { self.lifetime = lifetime }

        func respond(to request: RecordedRequest) -> MockResponse {
            let url = "http://\(request.authority ?? "")"
            switch request.path {
            case "/.well-known/oauth-authorization-server":
                return .json(
                    """
                    {"issuer":"\(url)","token_endpoint":"\(url)/token","authorization_endpoint":"\(url)/authorize",\
                    "device_authorization_endpoint":"\(url)/device"}
                    """)
            case "/device":
                return .json(
                    """
                    {"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"\(url)/activate","expires_in":60,\
                    "interval":1}
                    """)
            case "/authorize":
                let query = URLComponents(string: url + request.target)?.queryItems
                func value(_ name: String) -> String { query?.first { $0.name == name }?.value ?? "" }
                return .redirect(to: "\(value("redirect_uri"))?code=c&state=\(value("state"))")
            case "/token":
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return .json(
                    """
                    {"access_token":"a\(number)","refresh_token":"r\(number)","token_type":"bearer",\
                    "expires_in":\(lifetime)}
                    """)
            case "/posts":
                let token = "Bearer a\(count.withLock { $0 })"
                return request.headerFields[.authorization] == token ? .text("posts") : .status(.unauthorized)
            default: return .status(.notFound)
            }
        }
    }

    private func run(_ server: MockServer, _ scratch: Scratch, _ arguments: [String], path: String = "/posts")
        async throws -> Command
    {
        var issuer = server.url.absoluteString
        while issuer.hasSuffix("/") { issuer.removeLast() }
        return try await linnetRequest.run(
            [issuer + path, "--login", issuer] + arguments,
            environment: ["XDG_STATE_HOME": scratch.path, "PATH": "\(scratch.path):/usr/bin:/bin", "DISPLAY": ":0"])
    }

    @Test func theTokenOfADeviceLoginIsKeptForTheNextRequest() async throws {
        let issuer = Issuer()
        try await withMockServer(handler: { issuer.respond(to: $0) }) { server in
            try await Scratch.with { scratch in
                let first = try await run(server, scratch, ["--device", "--client-id", "finch", "--scope", "posts"])
                #expect(first.status == 0 && first.text == "posts", "\(first.errors)")
                #expect(first.errors.contains("/activate and enter WDJB-MJHT\n"), "\(first.errors)")
                let device = try #require(server.recordedRequests.first { $0.path == "/device" })
                #expect(device.bodyText == "scope=posts&client_id=finch")
                let second = try await run(server, scratch, ["--client-id", "finch"])
                #expect(second.status == 0 && second.text == "posts", "\(second.errors)")
                #expect(
                    server.recordedRequests.count { $0.path == "/device" } == 1 && issuer.count.withLock { $0 } == 1)
                // Another client has another token.
                let third = try await run(server, scratch, ["--device"])
                #expect(third.status == 0 && issuer.count.withLock { $0 } == 2, "\(third.errors)")
            }
        }
    }

    @Test func aStoredTokenThatIsRefusedIsRenewed() async throws {
        let issuer = Issuer()
        try await withMockServer(handler: { issuer.respond(to: $0) }) { server in
            try await Scratch.with { scratch in
                _ = try await run(server, scratch, ["--device"])
                issuer.count.withLock { $0 = 5 }
                let second = try await run(server, scratch, [])
                #expect(second.status == 0 && second.text == "posts", "\(second.errors)")
                let renewal = try #require(server.recordedRequests.last { $0.path == "/token" })
                #expect(renewal.bodyText.contains("grant_type=refresh_token&refresh_token=r1&"))
            }
        }
    }

    @Test func aStoredTokenIsUsedOnlyIfItCoversTheScopes() async throws {
        let issuer = Issuer()
        try await withMockServer(handler: { issuer.respond(to: $0) }) { server in
            try await Scratch.with { scratch in
                let runs = [
                    (["--scope", "posts", "--scope", "birds"], 1), (["--scope", "birds"], 1), ([], 1),
                    (["--scope", "birds", "--scope", "trees"], 2), (["--scope", "trees"], 2),
                    (["--scope", "posts"], 3),
                ]
                for (scopes, logins) in runs {
                    let run = try await run(server, scratch, ["--device"] + scopes)
                    #expect(run.status == 0 && issuer.count.withLock { $0 } == logins, "\(scopes): \(run.errors)")
                }
            }
        }
    }

    @Test func aRefusedRefreshTokenIsSaidWithItsFile() async throws {
        let issuer = Issuer()
        let isRevoked = Mutex(false)
        try await withMockServer(handler: { request in
            guard isRevoked.withLock({ $0 }), request.path == "/token" || request.path == "/posts" else {
                return issuer.respond(to: request)
            }
            return request.path == "/posts"
                ? .status(.unauthorized) : .json(#"{"error":"invalid_grant"}"#, status: .badRequest)
        }) { server in
            try await Scratch.with { scratch in
                // The name of a file has at most 255 bytes.
                let arguments = ["--device", "--client-id", String(repeating: "finch/", count: 100)]
                #expect(try await run(server, scratch, arguments).status == 0)
                let folder = scratch.file("linnet/tokens")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                let name = try #require(names.first { $0.hasSuffix(".json") })
                #expect(name.utf8.count < 250)
                isRevoked.withLock { $0 = true }
                let second = try await run(server, scratch, arguments)
                #expect(
                    second.status == 1 && second.errors.contains("Remove the token file \(folder)/\(name) to"),
                    "\(second.errors)")
            }
        }
    }

    @Test func theBrowserIsOpenedWhereThereIsADisplay() async throws {
        let issuer = Issuer()
        try await withMockServer(handler: { issuer.respond(to: $0) }) { server in
            try await Scratch.with { scratch in
                let browser = try scratch.write("xdg-open", "#!/bin/sh\nexec curl -sL \"$1\"\n")
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: browser)
                let run = try await run(server, scratch, [])
                #expect(run.status == 0 && run.text == "posts", "\(run.errors)")
                #expect(run.errors.contains("Log in with the browser at \(server.url)"), "\(run.errors)")
                #expect(!server.recordedRequests.contains { $0.path == "/device" })
            }
        }
    }

    @Test func aRedirectTakesNoTokenElsewhere() async throws {
        let issuer = Issuer()
        try await withMockServer(.text("elsewhere")) { other in
            let target = other.url.absoluteString
            try await withMockServer(handler: { $0.path == "/away" ? .redirect(to: target) : issuer.respond(to: $0) }) {
                server in
                try await Scratch.with { scratch in
                    let run = try await run(server, scratch, ["--device"], path: "/away")
                    #expect(run.status == 0 && run.text == "elsewhere", "\(run.errors)")
                    #expect(other.recordedRequests.map { $0.headerFields[.authorization] } == [nil])
                    let sent = server.recordedRequests.first { $0.path == "/away" }
                    #expect(sent?.headerFields[.authorization] == "Bearer a1")
                }
            }
        }
    }

    @Test(arguments: [
        (["https://127.0.0.1:1/", "--device"], 64, "--device, --scope and --client-id need --login."),
        (["https://127.0.0.1:1/", "--client-id", "x"], 64, "need --login"),
        (
            ["https://127.0.0.1:1/", "--login", "https://127.0.0.1:1", "--header", "Authorization: x"], 64,
            "--login and a header field Authorization exclude each other"
        ),
        (["http://example.com/", "--login", "https://example.com"], 64, "--login needs an https URL"),
        (
            ["http://127.0.0.1:1/", "--login", "https://example.com", "--proxy", "http://example.com:1"], 64,
            "--login needs an https URL"
        ),
        (
            ["https://127.0.0.1:1/", "--login", "http://127.0.0.1:1", "--proxy", "http://example.com:1"], 64,
            "--login at an http issuer and --proxy exclude each other"
        ),
        (["https://127.0.0.1:1/", "--login", "http://example.com"], 1, "insecureEndpoint"),
        (["https://127.0.0.1:1/", "--login", "example.com"], 1, "invalidConfiguration"),
    ])
    func aLoginThatCannotBeIsSaidSo(arguments: [String], status: Int32, text: String) async throws {
        let run = try await linnetRequest.run(arguments)
        #expect(run.status == status && run.errors.contains(text), "\(run.errors)")
    }

    @Test func aDamagedTokenFileIsKept() async throws {
        let issuer = Issuer()
        try await withMockServer(handler: { issuer.respond(to: $0) }) { server in
            try await Scratch.with { scratch in
                _ = try await run(server, scratch, ["--device"])
                let folder = scratch.file("linnet/tokens")
                let files = try FileManager.default.contentsOfDirectory(atPath: folder)
                let file = try #require(files.first { $0.hasSuffix(".json") })
                let path = "\(folder)/\(file)"
                let half = try Data(contentsOf: URL(filePath: path)).prefix(20)
                try half.write(to: URL(filePath: path))
                let run = try await run(server, scratch, ["--device"])
                #expect(run.status == 1 && run.errors.contains("damagedTokenFile"), "\(run.errors)")
                #expect(try Data(contentsOf: URL(filePath: path)) == half)
            }
        }
    }
}
