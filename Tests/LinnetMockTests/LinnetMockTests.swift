import CommandSupport
import ExampleSupport
import Foundation
import Testing

private let linnetMock = BuiltProgram("linnet-mock")

/// The built executable with curl, as a test in another language uses it.
@Suite(.timeLimit(.minutes(2)), .enabled(if: linnetMock.exists, "linnet-mock is not beside the tests"))
struct LinnetMockTests {
    private struct Seen: Decodable, Equatable {
        var method: String
        var target: String
        var body: String
        var status: Int
    }

    /// Starts the server with a file, runs a script in which `$url` is its URL, and ends the server.
    ///
    /// - Returns: The output of the script, and then `exit` with the status of the server.
    private func serve(_ file: String, _ options: String = "", _ script: String) async throws -> Command {
        try await Scratch.with { scratch in
            _ = try scratch.write("routes.json", file)
            let served = """
                cd "\(scratch.path)"
                "$mock" routes.json \(options) >out 2>errors &
                server=$!
                trap 'kill $server 2>/dev/null || true' EXIT
                until url=$(head -n 1 out) && [ -n "$url" ]; do
                    kill -0 $server || { cat errors >&2; exit 9; }
                    sleep 0.05
                done
                curl() { command curl --silent --show-error --max-time 20 "$@"; }
                \(script)
                kill -TERM $server
                status=0
                wait $server || status=$?
                echo "exit $status"
                """
            return try await Command.run([
                "/usr/bin/env", "mock=\(linnetMock.path)", "timeout", "60", "bash", "-euc", served,
            ])
        }
    }

    private func refusal(of file: String) async throws -> Command {
        try await Scratch.with { scratch in try await linnetMock.run([try scratch.write("routes.json", file)]) }
    }

    @Test func theVersionIsThePackages() async throws {
        let run = try await linnetMock.run(["--version"])
        #expect(run.status == 0 && run.text == ToolVersion.text + "\n", "\(run.text)")
    }

    @Test func theFirstMatchingRouteAnswers() async throws {
        let run = try await serve(
            #"""
            {"routes": [
              {"method": "GET", "path": "/users/1", "json": {"name": "Ada"}, "fields": {"ETag": "\"1\""}},
              {"method": "POST", "path": "/users", "status": 201, "text": "made"},
              {"path": "/files/*", "base64": "AAEC"},
              {"path": "/moved", "location": "/users/1"}
            ]}
            """#, "",
            """
            curl -i "$url/users/1" | tr -d '\\r' | grep -iE '^(HTTP|etag|content-type|\\{)'
            curl -d x "$url/users" -w ' %{http_code}\\n'
            curl "$url/files/a/b" | od -An -tx1
            curl -L "$url/moved" -w '\\n'
            cat errors
            """)
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let head = [
            "content-type: application/json", "etag: \"1\"", "http/1.1 200 ok", "{\"name\":\"ada\"}",
        ]
        #expect(lines.prefix(4).map { $0.lowercased() }.sorted() == head)
        let others = [
            "made 201", "00 01 02", #"{"name":"Ada"}"#, "GET /users/1 -> 200", "POST /users -> 201",
            "GET /files/a/b -> 200", "GET /moved -> 302", "GET /users/1 -> 200", "exit 0",
        ]
        #expect(Array(lines.dropFirst(4)) == others)
    }

    @Test func severalResponsesAnswerOneRequestEach() async throws {
        let run = try await serve(
            #"{"routes": [{"path": "/twice", "responses": [{"status": 503}, {"text": "ok"}]}]}"#, "",
            "for _ in 1 2 3; do curl -o /dev/null -w '%{http_code}\\n' \"$url/twice\"; done")
        #expect(run.text == "503\n200\n500\nexit 1\n", "\(run.errors)")
    }

    @Test func aRequestWithoutARouteIsRememberedInTheExitCode() async throws {
        let run = try await serve(#"{"routes": []}"#, "", "curl -w ' %{http_code}\\n' \"$url/x\"")
        #expect(run.text.contains("No route of the file") && run.text.hasSuffix("404\nexit 1\n"), "\(run.text)")
    }

    @Test func faultsAndDelaysOccur() async throws {
        let run = try await serve(
            #"""
            {"routes": [
              {"path": "/cut", "text": "0123456789", "faults": [{"effect": "close", "at": "responseBody", "after": 4}]},
              {"path": "/late", "text": "late", "delay": 0.3},
              {"path": "/events", "events": [{"data": "a", "type": "t", "id": "7"}, {"data": "b"}]}
            ]}
            """#, "",
            """
            code=0; curl "$url/cut" 2>/dev/null || code=$?; echo " $code"
            curl "$url/late" -w ' %{time_total}\\n'
            curl "$url/events"
            """)
        let lines = run.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "0123 18")
        let late = try #require(lines.dropFirst().first?.split(separator: " "))
        #expect(late.first == "late" && Double(late[1]) ?? 0 >= 0.3)
        #expect(Array(lines.dropFirst(2)) == ["data: a", "event: t", "id: 7", "data: b", "exit 0"])
    }

    @Test func requestsArePrintedAsJSON() async throws {
        let run = try await serve(
            #"{"routes": [{"path": "/*", "text": ""}]}"#, "--json",
            "curl -X PUT -d 'a=b' \"$url/x?y=1\"; tail -n +2 out")
        let line = try #require(run.text.split(separator: "\n").first, "\(run.errors)")
        let seen = try JSONDecoder().decode(Seen.self, from: Data(line.utf8))
        #expect(seen == Seen(method: "PUT", target: "/x?y=1", body: "YT1i", status: 200))
    }

    @Test func tlsHasACertificateOfAnAuthorityOfTheRun() async throws {
        let run = try await serve(
            #"{"routes": [{"path": "/*", "text": "sealed"}]}"#, "--tls --root-certificate root.pem",
            "curl --cacert root.pem \"$url/\" -w '\\n'; curl \"$url/\" 2>/dev/null || echo refused")
        #expect(run.text == "sealed\nrefused\nexit 0\n", "\(run.errors)")
    }

    @Test(arguments: [
        ("{", "is not JSON"),
        (#"{"routs": []}"#, "\"routs\" is unknown; the members are routes."),
        (#"{"routes": [{"text": "a"}]}"#, "\"path\" is missing."),
        (#"{"routes": [{"path": "/", "method": "G T"}]}"#, "routes[0].method: A method is a token."),
        (#"{"routes": [{"path": "a"}]}"#, "routes[0].path: A path begins with a slash"),
        (#"{"routes": [{"path": "/", "txt": "a"}]}"#, "\"txt\" is unknown"),
        (#"{"routes": [{"path": "/", "text": "a", "json": 1}]}"#, "one of text and json"),
        (#"{"routes": [{"path": "/", "status": 99}]}"#, "from 200 to 599"),
        (#"{"routes": [{"path": "/", "fields": {"a b": "c"}}]}"#, "is no header field"),
        (#"{"routes": [{"path": "/", "base64": "?"}]}"#, "not Base64"),
        (#"{"routes": [{"path": "/", "file": "missing"}]}"#, "missing cannot be read"),
        (#"{"routes": [{"path": "/", "responses": []}]}"#, "at least one response"),
        (#"{"routes": [{"path": "/", "faults": [{"effect": "explode", "at": "responseEnd"}]}]}"#, "The effects are"),
        (#"{"routes": [{"path": "/", "faults": [{"effect": "close", "at": "lunch"}]}]}"#, "The places are"),
        (
            #"{"routes": [{"path": "/", "faults": [{"effect": "close", "at": "responseEnd", "after": 1}]}]}"#,
            "Only a place in a body"
        ),
    ])
    func aWrongFileIsRefusedWithThePlace(file: String, reason: String) async throws {
        let run = try await refusal(of: file)
        #expect(run.status == 65 && run.errors.contains(reason), "\(run.status) \(run.errors)")
        #expect(run.errors.hasPrefix("linnet-mock: ") && run.errors.split(separator: "\n").count == 1)
    }

    @Test func wrongUseIsRefused() async throws {
        #expect(try await linnetMock.run([]).status == 64)
        #expect(try await linnetMock.run(["x.json", "--root-certificate", "r.pem"]).status == 64)
        #expect(try await linnetMock.run(["/nonexistent/x.json"]).status == 65)
    }
}
