import CommandSupport
import FoundationEssentials
import Linnet
import Testing

private let linnet = BuiltProgram("linnet")

/// The commands of Docs/LinnetTool.md, against servers of others: httpbin and nginx.
@Suite(
    .needsServers, .timeLimit(.minutes(5)), .enabled(if: linnet.exists, "linnet is not beside the tests"))
struct CurlTests {
    /// The results that both commands have in common, beside the exit code.
    enum Equality {
        case output
        /// The JSON of the output, without the members that describe the program. The URL may have `+` or `%20`.
        case json
        /// The head, without the time and the number of the connection.
        case head
        /// The file `out`.
        case file
        case exitCode
    }

    struct Pair: CustomStringConvertible, Sendable {
        let curl: String
        let linnet: String
        let equality: Equality

        init(_ equality: Equality, curl: String, linnet: String) {
            (self.curl, self.linnet, self.equality) = (curl, linnet, equality)
        }

        var description: String { linnet }
    }

    static let pairs = [
        Pair(.json, curl: "$HTTPBIN/get", linnet: "$HTTPBIN/get"),
        Pair(.json, curl: "-G $HTTPBIN/get --data-urlencode 'q=red birds'", linnet: "$HTTPBIN/get q=='red birds'"),
        Pair(.json, curl: "-d 'a=1&b=2' $HTTPBIN/post", linnet: "-d 'a=1&b=2' $HTTPBIN/post"),
        Pair(
            .json, curl: "--data-urlencode 'name=red bird' $HTTPBIN/post",
            linnet: "--form $HTTPBIN/post name='red bird'"),
        Pair(.json, curl: #"--json '{"name":"x","age":3}' $HTTPBIN/post"#, linnet: "$HTTPBIN/post name=x age:=3"),
        Pair(.json, curl: "-X PUT --json @post.json $HTTPBIN/put", linnet: "put $HTTPBIN/put -d @post.json"),
        Pair(
            .json, curl: "-F name=x -F file=@a.txt $HTTPBIN/post", linnet: "post $HTTPBIN/post name=x file@a.txt"),
        Pair(.json, curl: #"-X PATCH --json '{"a":1}' $HTTPBIN/patch"#, linnet: "patch $HTTPBIN/patch a:=1"),
        Pair(.json, curl: "-X DELETE $HTTPBIN/delete", linnet: "delete $HTTPBIN/delete"),
        Pair(.json, curl: "-L $HTTPBIN/redirect/3", linnet: "-L $HTTPBIN/redirect/3"),
        Pair(.json, curl: "--compressed $HTTPBIN/gzip", linnet: "$HTTPBIN/gzip"),
        Pair(.json, curl: "--compressed $HTTPBIN/deflate", linnet: "$HTTPBIN/deflate"),
        Pair(
            .json, curl: "-u user:secret $HTTPBIN/basic-auth/user/secret",
            linnet: "-u user:secret $HTTPBIN/basic-auth/user/secret"),
        Pair(
            .json, curl: "-H 'Authorization: Bearer x' $HTTPBIN/bearer",
            linnet: "$HTTPBIN/bearer 'Authorization:Bearer x'"),
        Pair(
            .json, curl: "-Lb jar -c jar -o out $HTTPBIN/cookies/set/a/1; curl -sb jar $HTTPBIN/cookies",
            linnet: "-L --cookies jar -o out $HTTPBIN/cookies/set/a/1; linnet --cookies jar $HTTPBIN/cookies"),
        Pair(.output, curl: "$HTTPBIN/robots.txt", linnet: "$HTTPBIN/robots.txt"),
        Pair(.output, curl: "$HTTPBIN/redirect-to?url=/get", linnet: "$HTTPBIN/redirect-to?url=/get"),
        Pair(.output, curl: "-r 10-19 $HTTPBIN/range/100", linnet: "$HTTPBIN/range/100 Range:bytes=10-19"),
        Pair(.exitCode, curl: "-f $HTTPBIN/status/404", linnet: "$HTTPBIN/status/404"),
        Pair(.exitCode, curl: "-m 0.5 $HTTPBIN/delay/10", linnet: "--timeout 0.5 $HTTPBIN/delay/10"),
        Pair(.exitCode, curl: "-L --max-redirs 20 $HTTPBIN/redirect/21", linnet: "-L $HTTPBIN/redirect/21"),
        Pair(.output, curl: "$NGINX/json", linnet: "$NGINX/json"),
        Pair(.output, curl: "--compressed $NGINX/coded", linnet: "$NGINX/coded"),
        Pair(.head, curl: "-I $NGINX/1k", linnet: "-I $NGINX/1k"),
        Pair(.head, curl: "-i $NGINX/redirect", linnet: "-i $NGINX/redirect"),
        Pair(.output, curl: "-L $NGINX/redirect", linnet: "-L $NGINX/redirect"),
        Pair(.file, curl: "-o out $NGINX/bytes-10m", linnet: "-o out $NGINX/bytes-10m"),
        Pair(
            .file, curl: "-O $NGINX/bytes-64k; mv bytes-64k out", linnet: "-O $NGINX/bytes-64k; mv bytes-64k out"),
        Pair(.output, curl: "-T a.txt $NGINX/upload", linnet: "put $NGINX/upload -d @a.txt"),
        Pair(.output, curl: "--data-binary @- $NGINX/upload <a.txt", linnet: "$NGINX/upload -d @- <a.txt"),
        Pair(.output, curl: "$NGINX/error-500", linnet: "$NGINX/error-500 || true"),
        Pair(.output, curl: "$NGINX/empty", linnet: "$NGINX/empty"),
        Pair(.output, curl: "--cacert $CA $TLS/1k", linnet: "--cacert $CA $TLS/1k"),
        Pair(.output, curl: "-k $TLS/1k", linnet: "-k $TLS/1k"),
        Pair(
            .output, curl: #"--cacert $CA --pinnedpubkey "sha256//$PIN" $TLS/1k"#,
            linnet: #"--cacert $CA --pin "sha256/$PIN" $TLS/1k"#),
        Pair(.exitCode, curl: "$TLS/1k", linnet: "$TLS/1k"),
        Pair(.exitCode, curl: "--cacert $CA $WRONGHOST/1k", linnet: "--cacert $CA $WRONGHOST/1k"),
        Pair(.exitCode, curl: "--cacert $CA $EXPIRED/1k", linnet: "--cacert $CA $EXPIRED/1k"),
        Pair(.output, curl: "--http2-prior-knowledge $H2C/1k", linnet: "--http2 $H2C/1k"),
        Pair(.output, curl: "--http2 --cacert $CA $H2/1k", linnet: "--http2 --cacert $CA $H2/1k"),
    ]

    private struct Outcome {
        let run: Command
        let file: Data?
    }

    @Test(arguments: pairs)
    func bothCommandsDoTheSame(pair: Pair) async throws {
        let curl = try await outcome("curl -s \(pair.curl)")
        let linnet = try await outcome("linnet \(pair.linnet)")
        #expect(curl.run.status == linnet.run.status, "\(linnet.run.errors)")
        switch pair.equality {
        case .output: #expect(curl.run.text == linnet.run.text, "\(linnet.run.errors)")
        case .json:
            let (expected, shown) = try (Self.content(curl.run), Self.content(linnet.run))
            #expect(expected == shown && expected.object?.keys.isEmpty == false, "\(linnet.run.errors)")
        case .head: #expect(Self.head(curl.run) == Self.head(linnet.run), "\(linnet.run.errors)")
        case .file: #expect(curl.file == linnet.file && curl.file != nil, "\(linnet.run.errors)")
        case .exitCode: #expect(linnet.run.status != 0)
        }
    }

    private func outcome(_ command: String) async throws -> Outcome {
        let tools = URL(filePath: linnet.path).deletingLastPathComponent().path
        let pin = try String(Environment.pin.description.dropFirst("sha256/".count))
        let authority = try Environment.value(of: "LINNET_TEST_CA")
        var variables = ["PATH=\(tools):/usr/bin:/bin", "PIN=\(pin)", "CA=\(authority)"]
        for (name, server) in [
            ("HTTPBIN", Server.httpbin), ("NGINX", .plain), ("TLS", .tls), ("WRONGHOST", .wrongHost),
            ("EXPIRED", .expired), ("H2", Server(variable: "LINNET_TEST_NGINX_H2")),
            ("H2C", Server(variable: "LINNET_TEST_NGINX_H2C")),
        ] {
            var address = try server.url.absoluteString
            if address.hasSuffix("/") { address.removeLast() }
            variables.append("\(name)=\(address)")
        }
        return try await Scratch.with { folder in
            _ = try folder.write("a.txt", String(repeating: "red birds\n", count: 1000))
            _ = try folder.write("post.json", #"{"text":"ä","count":[1,2.5,null]}"#)
            let run = try await Command.run(
                ["/usr/bin/env", "-i", "HOME=\(folder.path)"] + variables
                    + ["/bin/sh", "-c", "cd '\(folder.path)' && \(command)"]
            )
            return Outcome(run: run, file: try? folder.read("out"))
        }
    }

    private static func content(_ run: Command) throws -> JSONValue {
        let value = try JSONDecoder().decode(JSONValue.self, from: run.output)
        guard case .object(var members) = value else { return value }
        for name in ["headers", "origin", "url"] { members[name] = nil }
        return .object(members)
    }

    private static func head(_ run: Command) -> [Substring] {
        run.text.split(separator: "\r\n").filter { !$0.hasPrefix("Date:") && !$0.hasPrefix("X-Connection:") }
    }
}
