import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetSettings
import LinnetTesting
import Testing

private let linnetPins = BuiltProgram("linnet-pins")

/// The built executable, as a user runs it.
@Suite(.timeLimit(.minutes(5)), .enabled(if: linnetPins.exists, "linnet-pins is not beside the tests"))
struct LinnetPinsTests {
    private struct Entry: Decodable {
        struct Link: Decodable {
            var pin: PublicKeyPin
            var isPresented: Bool
        }

        var source: String
        var links: [Link]
        var isTrusted: Bool?
    }

    private let pki: TestPKI
    private let identity: TestPKI.Identity

    init() throws {
        pki = try TestPKI()
        identity = try pki.identity()
    }

    /// Runs a closure with a folder for files, and a server that must not receive a request.
    private func withServer(_ perform: (Folder, MockServer, String) async throws -> Void) async throws {
        let folder = try Folder()
        defer { folder.remove() }
        try await withMockServer(.text("hello"), tls: identity) { server in
            let port = try #require(try server.url("/").port)
            try await perform(folder, server, "127.0.0.1:\(port)")
            #expect(server.recordedRequests.isEmpty)
        }
    }

    /// The pin of a certificate's key, computed with the openssl program.
    private func foreignPin(_ path: String) async throws -> String {
        let pipe =
            "openssl x509 -pubkey -noout -in '\(path)' | openssl pkey -pubin -outform der "
            + "| openssl dgst -sha256 -binary | base64"
        let run = try await Command.run(["/bin/sh", "-c", pipe])
        return "sha256/" + String(run.text.prefix { !$0.isNewline })
    }

    @Test func aServersPinsEqualOpenSSLs() async throws {
        try await withServer { folder, _, host in
            let leaf = try folder.write("leaf.pem", identity.certificateChainPEM)
            let root = try folder.write("root.pem", pki.rootPEM)
            let run = try await linnetPins.run([host, "--cacert", root])
            let lines = run.text.split(separator: "\n").map(String.init)
            #expect(run.status == 0)
            #expect(run.errors.isEmpty)
            #expect(lines.first == "\(host): trusted")
            #expect(lines.contains("   key     P-256"), "\(run.text)")
            #expect(lines.contains { $0.hasPrefix("   names   ") && $0.contains("127.0.0.1") }, "\(run.text)")
            let pins = lines.filter { $0.hasPrefix("sha256/") }
            #expect(
                pins == [
                    try await foreignPin(leaf), pki.intermediate.publicKeyPin.description, try await foreignPin(root),
                ])
            #expect(pins.first == identity.pin.description)
        }
    }

    @Test func anUntrustedServersPinsArePrintedWithAWarning() async throws {
        try await withServer { _, _, host in
            let run = try await linnetPins.run([host])
            #expect(run.status == 0)
            #expect(run.text.hasPrefix("\(host): not trusted: "))
            #expect(run.text.contains("does not lead to a trusted anchor"))
            #expect(run.text.contains("\n\(identity.pin)\n"))
        }
    }

    @Test(arguments: TestPKI.KeyKind.allCases)
    func thePinsOfFilesEqualOpenSSLs(key: TestPKI.KeyKind) async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let identity = try pki.identity { $0.key = key }
        let certificate = try folder.write("leaf.pem", identity.certificateChainPEM)
        let secret = try folder.write("leaf.key", identity.privateKeyPEM)
        let run = try await linnetPins.run(["--json", certificate, secret])
        #expect(run.status == 0)
        let entries = try JSONDecoder().decode([Entry].self, from: run.output)
        let pin = try PublicKeyPin(await foreignPin(certificate))
        #expect(entries.map(\.source) == [certificate, secret])
        #expect(entries.map { $0.links.first?.pin } == [pin, pin])
        #expect(entries.map(\.links.count) == [2, 1])
    }

    /// Names of files and of certificates' subjects can contain control sequences for a terminal. JSON escapes only
    /// ASCII's controls.
    @Test func jsonCannotControlTheTerminal() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let file = try folder.write("a\u{9B}31m\u{7F}b\u{202E}c\u{2066}d\u{2028}e.pem", identity.certificateChainPEM)
        let run = try await linnetPins.run(["--json", file])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.text.unicodeScalars.allSatisfy { $0 == "\n" || (0x20...0x7E).contains($0.value) }, "\(run.text)")
        #expect(try JSONDecoder().decode([Entry].self, from: run.output).map(\.source) == [file])
    }

    @Test func jsonMarksTheAnchorAsNotPresented() async throws {
        try await withServer { folder, _, host in
            let root = try folder.write("root.pem", pki.rootPEM)
            let run = try await linnetPins.run(["--json", "--cacert", root, host])
            let entry = try #require(try JSONDecoder().decode([Entry].self, from: run.output).first)
            #expect(entry.isTrusted == true)
            #expect(entry.links.map(\.isPresented) == [true, true, false])
            #expect(entry.links.last?.pin == pki.root.publicKeyPin)
        }
    }

    @Test func aPolicyIsCheckedAgainstAServer() async throws {
        try await withServer { folder, _, host in
            _ = try folder.write("root.pem", pki.rootPEM)
            let other = try TestPKI.selfSigned().pin
            for (pin, isReportOnly, isAccepted) in [
                (identity.pin, false, true), (other, false, false), (other, true, true),
            ] {
                let policy = try folder.write(
                    "policy.json",
                    """
                    {"version": 1, "rules": [{"hosts": ["127.0.0.0/8"], "trust": "anchors", "anchors": ["root.pem"],
                      "pins": ["\(pin)"], "reportOnly": \(isReportOnly)}]}
                    """)
                let run = try await linnetPins.run(["--check", policy, host])
                #expect(run.status == (isAccepted ? 0 : 1))
                #expect(
                    run.text.hasPrefix("\(host): \(isAccepted ? "accepted" : "refused") by the rule \"127.0.0.0/8\""))
                #expect(run.text.contains("pinMismatch") == (pin == other))
                #expect(run.text.contains("would be refused") == isReportOnly)
                // The anchors alone make the rule stricter than the system's store.
                #expect(run.text.contains(", clear text refused\n"))
            }
        }
    }

    @Test func aPolicyIsCheckedAgainstFiles() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        _ = try folder.write("root.pem", pki.rootPEM)
        let chain = try folder.write("chain.pem", identity.certificateChainPEM)
        let policy = try folder.write(
            "policy.json",
            """
            {"version": 1, "otherHosts": "refuse", "rules": [{"hosts": ["localhost"], "trust": "anchors",
              "anchors": ["root.pem"], "pins": ["\(identity.pin)"]}]}
            """)
        for (host, isAccepted, text) in [
            ("localhost", true, "accepted by the rule \"localhost\", pinned"),
            ("127.0.0.1:8443", false, "refused as a host without a rule"),
        ] {
            let run = try await linnetPins.run(["--check", policy, "--as", host, chain])
            #expect(run.status == (isAccepted ? 0 : 1), "\(run.errors)")
            #expect(
                run.text.hasPrefix("\(chain) as \(host.contains(":") ? host : host + ":443"): \(text)"), "\(run.text)")
        }
        for arguments in [["--as", "localhost", chain], ["--check", policy, "--as", "a b", chain]] {
            #expect(try await linnetPins.run(arguments).status == 64)
        }
        #expect(try await linnetPins.run(["--check", policy, "--as", "localhost", "localhost:1"]).status == 64)
    }

    /// Compares with the usual command line for computing a pin.
    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["LINNET_TEST_NGINX_TLS"] != nil,
            "nginx is not running: use `make test`"),
        arguments: ["TLS", "RSA", "P384", "ED25519", "TLS12"])
    func nginxsPinsEqualThoseOfTheOpenSSLCommandLine(server: String) async throws {
        let environment = ProcessInfo.processInfo.environment
        let url = try #require(environment["LINNET_TEST_NGINX_\(server)"])
        let host = url.dropFirst("https://".count)
        let pipe =
            "openssl s_client -connect \(host) -servername localhost </dev/null 2>/dev/null | openssl x509 -pubkey -noout "
            + "| openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64"
        let foreign = try await Command.run(["/bin/sh", "-c", pipe])
        let root = try #require(environment["LINNET_TEST_CA"])
        let run = try await linnetPins.run([String(host), "--cacert", root])
        #expect(run.status == 0)
        #expect(run.text.hasPrefix("\(host): trusted\n"))
        let pins = run.text.split(separator: "\n").filter { $0.hasPrefix("sha256/") }
        #expect(pins.count == 3)
        #expect(pins.first.map(String.init) == "sha256/" + String(foreign.text.prefix { !$0.isNewline }))
        if server == "TLS" { #expect(pins.first.map(String.init) == environment["LINNET_TEST_PIN"]) }
    }

    @Test func aPolicyIsLinted() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let (one, two) = (identity.pin, pki.root.publicKeyPin)
        let good = try folder.write(
            "good.json", #"{"version": 1, "rules": [{"hosts": ["a.example"], "pins": ["\#(one)", "\#(two)"]}]}"#)
        let bad = try folder.write(
            "bad.json", #"{"version": 1, "rules": [{"hosts": ["**.com"], "pins": ["\#(one)"]}]}"#)
        let well = try await linnetPins.run(["--lint", good])
        #expect(well.status == 0)
        #expect(well.text == "\(good): nothing found\n")
        let found = try await linnetPins.run(["--lint", bad])
        #expect(found.status == 1)
        #expect(found.text.contains("rules[0].hosts[0]: warning:") && found.text.contains("[publicSuffixPattern]"))
        #expect(found.text.contains("[noBackupPin]"))
        let json = try await linnetPins.run(["--lint", bad, "--json"])
        let findings = try JSONDecoder().decode([SecurityPolicyFile.Finding].self, from: json.output)
        #expect(findings.map(\.kind) == [.publicSuffixPattern, .noBackupPin])
    }

    @Test func readFailuresAreReportedOnOneLine() async throws {
        let folder = try Folder()
        defer { folder.remove() }
        let text = try folder.write("text.pem", "no certificate")
        let broken = try folder.write("broken.json", #"{"version": 1, "rules": [{"hosts": ["a"], "pin": []}]}"#)
        // A port that was in use a moment ago and has been released.
        let port = try await withMockServer(.text("")) { try $0.url("/").port ?? 1 }
        for arguments in [
            [text], [folder.path + "/missing.pem"], ["127.0.0.1:\(port)"], ["--lint", broken],
            ["--check", broken, "localhost"], ["--lint", folder.path + "/missing.json"],
        ] {
            let run = try await linnetPins.run(arguments)
            #expect(run.status == 1, "\(arguments)")
            #expect(run.errors.hasPrefix("linnet-pins: "), "\(run.errors)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
        }
        #expect(try await linnetPins.run(["--lint", broken]).errors.contains("rules[0]: The key \"pin\" is unknown"))
    }

    @Test(arguments: ["broken.json", "missing.json"])
    func failuresOfLintAreJSONToo(name: String) async throws {
        let folder = try Folder()
        defer { folder.remove() }
        _ = try folder.write("broken.json", #"{"version": 1, "rules": [{"hosts": ["a"], "pin": []}]}"#)
        let run = try await linnetPins.run(["--lint", folder.path + "/" + name, "--json"])
        #expect(run.status == 1)
        let failure = try JSONDecoder().decode([String: String].self, from: run.output)
        #expect(failure.keys.sorted() == ["error"])
        #expect(run.errors == "linnet-pins: \(failure["error"] ?? "")\n")
    }

    @Test(arguments: [
        [], ["--check", "policy.json"], ["--lint", "a.json", "--check", "b.json", "localhost"], ["localhost:0"],
        ["localhost:x"], ["--lint", "a.json", "localhost"], ["--timeout", "0", "localhost"], ["https://example.com/"],
        ["--nonsense"], ["--check", "policy.json", "file.pem"],
    ])
    func aUsageErrorHasItsOwnExitCode(_ arguments: [String]) async throws {
        let run = try await linnetPins.run(arguments)
        #expect(run.status == 64, "\(run.errors)")
        #expect(!run.errors.isEmpty)
        #expect(run.output.isEmpty)
    }

    @Test func helpHasExamples() async throws {
        let run = try await linnetPins.run(["--help"])
        #expect(run.status == 0)
        for text in ["linnet-pins --check policy.json", "linnet-pins --lint policy.json", "Exit codes"] {
            #expect(run.text.contains(text))
        }
    }
}
