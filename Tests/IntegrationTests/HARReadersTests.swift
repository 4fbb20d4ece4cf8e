import CommandSupport
import FoundationEssentials
import Linnet
import LinnetHAR
import LinnetTesting
import LinnetTransport
import Testing

/// Independent readers read recorded logs: haralyzer, and mitmproxy if it is installed.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct HARReadersTests {
    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0xFF, 0x00])

    private func respond(to request: RecordedRequest) -> MockResponse {
        switch request.path {
        case "/redirect": .redirect(to: "/text")
        case "/image": MockResponse(headerFields: [.contentType: "image/png"], body: .bytes(Self.png))
        case "/gzip":
            MockResponse(
                headerFields: [.contentType: "text/plain; charset=utf-8", .contentEncoding: "gzip"],
                body: .bytes((try? ContentCoding.gzip.encoded(Data("grüße".utf8))) ?? Data()))
        case "/broken": MockResponse.status(.ok).with(.init(.close, at: .responseHead))
        default: .text("text")
        }
    }

    /// The folder with the environments of Python, beside the one of the interpreter.
    private func interpreter(of environment: String) throws -> String? {
        let python = URL(filePath: try Environment.value(of: "LINNET_TEST_PYTHON"))
        let folder = python.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let path = folder.appending(path: "\(environment)/bin/python").path
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }

    private func record(_ file: URL) async throws -> HAR {
        let recorder = HARRecorder { $0.bodies = .all }
        try await withMockServer(handler: { respond(to: $0) }) { server in
            let session = try HTTPSession(
                baseURL: server.url, transport: recorder.transport(over: try HTTPTransport()))
            for path in ["redirect", "image", "gzip"] { _ = try await session.get(path).data() }
            _ = try await session.post("text", ["a": "b", "token": "secret"]).data()
            _ = try? await session.post("broken").data()
            await session.shutdown()
        }
        try recorder.write(to: file)
        return recorder.har
    }

    @Test func othersReadWhatARecorderWrites() async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("session.har"))
            let har = try await record(file)
            #expect(har.entries.map(\.response.status) == [302, 200, 200, 200, 200, 0])
            let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Servers/read-har").path
            for (reader, environment) in [("haralyzer", "linnet-venv"), ("mitmproxy", "linnet-mitm-venv")] {
                guard let python = try interpreter(of: environment) else {
                    #expect(reader == "mitmproxy", "haralyzer is not installed")
                    continue
                }
                let run: Command = try await Command.run([python, script, reader, file.path])
                try #require(run.status == 0, "\(reader): \(run.errors)")
                let seen = try #require(try JSONValue(parsing: run.output).array)
                try #require(seen.count == har.entries.count)
                for (entry, seen) in zip(har.entries, seen) {
                    #expect(seen["method"]?.string == entry.request.method)
                    #expect(seen["status"]?.int == entry.response.status)
                    #expect(seen["type"]?.string == entry.response.content.mimeType)
                    let content = Data(base64Encoded: seen["content"]?.string ?? "")
                    #expect(try content == (entry.response.content.data() ?? Data()), "\(reader): \(entry.request.url)")
                    // mitmproxy normalizes URLs.
                    if reader == "haralyzer" { #expect(seen["url"]?.string == entry.request.url) }
                }
            }
        }
    }
}
