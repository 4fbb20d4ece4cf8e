import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetHAR
import LinnetJSON
import LinnetTesting
import Testing

private let linnetRequest = BuiltProgram("linnet-request")

/// The built executable, as a user runs it.
@Suite(.timeLimit(.minutes(1)), .enabled(if: linnetRequest.exists, "linnet-request is not beside the tests"))
struct LinnetRequestTests {
    @Test func theBodyAndTheFiguresArePrinted() async throws {
        try await withMockServer(.text("hello")) { server in
            let run = try await linnetRequest.run([server.url.absoluteString])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.text == "hello")
            #expect(run.errors.hasPrefix("status       200 OK\nprotocol     http/1.1\n"), "\(run.errors)")
            #expect(run.errors.contains("\nbody         5 bytes\n"), "\(run.errors)")
        }
    }

    /// Other than ASCII's control characters, a reason phrase may contain any bytes (RFC 9112, 4).
    @Test(arguments: [200, 404])
    func aReasonPhraseCannotControlTheTerminal(status: Int) async throws {
        let response = MockResponse.raw(
            "HTTP/1.1 \(status) A\u{9B}31mB\u{85}C\u{202E}D\u{2066}E\u{2028}F\tG\r\nContent-Length: 2\r\n\r\nhi")
        try await withMockServer(response) { server in
            let run = try await linnetRequest.run([server.url.absoluteString])
            #expect(run.status == (status == 200 ? 0 : 22), "\(run.errors)")
            #expect(run.text == "hi")
            #expect(run.errors.hasPrefix("status       \(status) A 31mB CDE F G\n"), "\(run.errors)")
            #expect(!run.errors.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
        }
    }

    @Test func theArchiveHasAllRequests() async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("request.har"))
            let url = try await withMockServer(handler: { request in
                request.path == "/end" ? .text("hello") : .redirect(to: "/end?token=s3cr3t")
            }) { server in
                let url = try server.url("/start?access_token=s3cr3t").absoluteString
                let run = try await linnetRequest.run([url, "--har", file.path, "--header", "Authorization: s3cr3t"])
                #expect(run.status == 0 && run.text == "hello", "\(run.errors)")
                return url
            }
            let har = try HAR(contentsOf: file)
            #expect(har.entries.map(\.response.status) == [302, 200])
            #expect(har.entries.last?.response.content.text == "hello")
            #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("s3cr3t"))
            // The server is gone: the archive has the failure.
            let run = try await linnetRequest.run([url, "--har", file.path])
            #expect(run.status == 7)
            #expect(try HAR(contentsOf: file).entries.map(\.response.status) == [0])
        }
    }

    @Test func anArchiveThatCannotBeWrittenIsAnError() async throws {
        try await Scratch.with { scratch in
            try await withMockServer(.text("hello")) { server in
                let run = try await linnetRequest.run(
                    [server.url.absoluteString, "--har", scratch.file("missing/request.har")])
                #expect(run.status == 1 && run.text == "hello")
                #expect(run.errors.contains("linnet-request: unwritableFile: "), "\(run.errors)")
                let usage = try await linnetRequest.run([server.url.absoluteString, "--har", scratch.path + "/"])
                #expect(usage.status == 64, "\(usage.errors)")
            }
        }
    }

    @Test(arguments: [200, 404])
    func aTraceIsWritten(status: Int) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try await withMockServer(.text("hello", status: .init(code: status))) { server in
            let run = try await linnetRequest.run([server.url.absoluteString, "--trace", file.path])
            #expect(run.status == (status == 200 ? 0 : 22), "\(run.errors)")
            let trace = try JSONValue(parsing: Data(contentsOf: file))
            let names = trace["traceEvents"]?.array?.compactMap { $0["name"]?.string } ?? []
            #expect(Set(names).isSuperset(of: ["GET 127.0.0.1 (1)", "connect", "wait for response"]), "\(names)")
        }
    }

    @Test func aTraceOfAFailureIsWritten() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let run = try await linnetRequest.run(["http://127.0.0.1:1/", "--trace", file.path])
        #expect(run.status == 7, "\(run.errors)")
        let trace = try JSONValue(parsing: Data(contentsOf: file))
        let send = trace["traceEvents"]?.array?.first { $0["cat"]?.string == "send" }
        #expect(send?["args"]?["error"]?.string == "connectionFailed")
    }
}
