import CommandSupport
import FoundationEssentials
import HTTPTypes
import Linnet
import LinnetTesting
import Testing

/// The recipes for services: trust from files, client certificates, limits, queues and metrics.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Recipe.areBuilt, "the recipes are not beside the tests"))
struct ServiceRecipesTests {
    private func policy(_ rule: String) -> Data {
        Data(#"{"version": 1, "otherHosts": "refuse", "rules": [{"hosts": ["localhost"], \#(rule)}]}"#.utf8)
    }

    @Test func aPolicyFileDecidesOrIsRefused() async throws {
        let authority = try TestPKI(named: "Policies")
        let identity = try authority.identity()
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        try await Recipe.withFolder { folder in
            try Data(authority.rootPEM.utf8).write(to: folder.appending(path: "root.pem"))
            let file = folder.appending(path: "policy.json")
            let anchors = #""trust": "anchors", "anchors": ["root.pem"], "pins": "#
            let backup = #", "backupPins": ["sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg="]"#
            let server = try await MockServer.start(tls: identity, configuration: configuration) { _ in .text("hello") }
            let url = server.url.absoluteString

            try policy(anchors + #"["\#(identity.pin)"]"# + backup).write(to: file)
            let good = try await Recipe.run("policy-file", file.path, url)
            try policy(anchors + #"["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]"# + backup).write(to: file)
            let wrong = try await Recipe.run("policy-file", file.path, url)
            try policy(#""pin": []"#).write(to: file)
            let misspelt = try await Recipe.run("policy-file", file.path, url)
            let requests = server.recordedRequests
            await server.shutdown()
            #expect(good.status == 0 && good.text.hasSuffix("hello\n"), "\(good.text)\(good.errors)")
            #expect(wrong.status == 1 && wrong.text.contains("refused: pinMismatch"), "\(wrong.text)\(wrong.errors)")
            #expect(misspelt.status != 0 && misspelt.errors.contains("\"pin\""), "\(misspelt.errors)")
            #expect(requests.count == 1)
        }
    }

    @Test func aClientCertificateIsPresented() async throws {
        let authority = try TestPKI(named: "Mutual")
        let identity = try authority.identity()
        let client = try authority.clientIdentity(named: "robot")
        let configuration = MockServer.Configuration {
            $0.hostName = "localhost"
            $0.clientCertificates = .required(issuedBy: [authority.root])
        }
        try await Recipe.withFolder { folder in
            let (root, certificate, key) = (
                folder.appending(path: "root.pem"), folder.appending(path: "robot.pem"),
                folder.appending(path: "robot.key")
            )
            try Data(authority.rootPEM.utf8).write(to: root)
            try Data(client.certificateChainPEM.utf8).write(to: certificate)
            try Data(client.privateKeyPEM.utf8).write(to: key)
            let server = try await MockServer.start(tls: identity, configuration: configuration) { request in
                .text(request.clientCertificate?.subject ?? "no certificate")
            }
            let run = try await Recipe.run(
                "mutual-tls", server.url.absoluteString, "--certificate", certificate.path, "--key", key.path,
                "--authority", root.path)
            await server.shutdown()
            #expect(run.status == 0 && run.text.contains("robot"), "\(run.text)\(run.errors)")
        }
    }

    @Test func aServerIsLimitedInSizeAndTime() async throws {
        let routes = MockServer.Routes {
            $0.on(.get, "/small", .text("hello"))
            $0.on(.get, "/large", MockResponse(body: .bytes(Data(count: 100_000))))
            $0.on(.get, "/silent", .text("").with(.init(.stall, at: .responseHead)))
        }
        try await withMockServer(routes: routes) { server in
            func run(_ path: String, _ options: String...) async throws -> Command {
                try await Recipe.run(
                    "untrusted-server", server.url(path).absoluteString, "--bytes", "50000", "--seconds",
                    path == "/silent" ? "1" : "30", options.first ?? "--cleartext")
            }
            let small = try await run("/small")
            #expect(small.status == 0 && small.text == "200, 5 bytes\n")
            let large = try await run("/large")
            #expect(large.status == 1 && large.text.hasPrefix("bodyTooLarge: "))
            let silent = try await run("/silent")
            #expect(silent.status == 1 && silent.text.hasPrefix("timeout: "))
            let http = try await Recipe.run("untrusted-server", server.url("/small").absoluteString)
            #expect(http.status != 0 && http.errors.contains("is not an https URL"))
            #expect(server.recordedRequests.count == 3)
        }
    }

    @Test func aQueueOfUploadsIsDrained() async throws {
        try await Recipe.withFolder { folder in
            for name in ["a", "b"] { try Data("file \(name)".utf8).write(to: folder.appending(path: name)) }
            try await withMockServer(.status(.created)) { server in
                let (journal, url) = (folder.appending(path: "journal").path, try server.url("/in/").absoluteString)
                let run = try await Recipe.run(
                    "upload-queue", "--journal", journal, "--to", url, folder.appending(path: "a").path,
                    folder.appending(path: "b").path)
                #expect(run.status == 0, "\(run.text)\(run.errors)")
                #expect(Set(run.text.split(separator: "\n")) == ["completed a ", "completed b "])
                let requests = server.recordedRequests.sorted { $0.path < $1.path }
                #expect(requests.map(\.path) == ["/in/a", "/in/b"])
                #expect(requests.map(\.bodyText) == ["file a", "file b"])
                let keys = requests.compactMap { $0.headerFields.first { $0.name.canonicalName == "idempotency-key" } }
                #expect(Set(keys.map(\.value)).count == 2)
            }
        }
    }

    @Test func requestsAreCounted() async throws {
        try await withMockServer(.text("hello")) { server in
            let run = try await Recipe.run("request-metrics", server.url.absoluteString, "--count", "4")
            #expect(run.status == 0, "\(run.errors)")
            let lines = run.text.split(separator: "\n")
            let duration = try #require(lines.first { $0.hasPrefix("http.client.request.duration{") })
            #expect(duration.contains("http.response.status_code=\"200\"") && duration.contains("count=4"))
            #expect(lines.contains { $0.hasPrefix("http.client.response.body.size{") && $0.hasSuffix("sum=20.0") })
            #expect(server.recordedRequests.count == 4)
        }
    }
}
