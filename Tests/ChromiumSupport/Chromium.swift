internal import CommandSupport
package import FoundationEssentials
internal import Linnet
internal import LinnetWebSocket

/// Chromium without a screen, controlled by the Chrome DevTools Protocol.
package struct Chromium {
    /// The browser did not answer, or not as expected.
    package struct Failure: Error {
        package let description: String
    }

    package static let isInstalled = (try? Command.run(["chromium", "--version"]))?.status == 0

    private let socket: WebSocket
    private var count = 0

    /// Opens a page in a new browser, calls a function, and ends the browser.
    package static func open<Value>(
        _ url: URL, _ body: (inout Chromium) async throws -> Value
    ) async throws -> Value {
        let profile = FileManager.default.temporaryDirectory.appending(path: "linnet-chromium-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: profile) }
        async let run = Command.run([
            "timeout", "60", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--window-size=1100,720", "--remote-debugging-port=0", "--user-data-dir=\(profile.path)",
            url.absoluteString,
        ])
        let session = try HTTPSession(baseURL: try await address(profile))
        var chromium = try await Chromium(session)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(&chromium))
        } catch {
            result = .failure(error)
        }
        // The browser may end before it answers.
        _ = try? await chromium.command("Browser.close")
        _ = try await run
        await session.shutdown(.immediate)
        return try result.get()
    }

    private init(_ session: HTTPSession) async throws {
        let path = try await Self.page(session).replacing("ws://", with: "http://")
        socket = try await session.get(path).webSocket { $0.maximumMessageSize = 64 << 20 }
    }

    /// The address of the page. The browser may listen before it has one.
    private static func page(_ session: HTTPSession) async throws -> String {
        struct Target: Decodable, Sendable { let type: String, webSocketDebuggerUrl: String }
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            let targets = try await session.get("json/list").value(as: [Target].self)
            if let page = targets.first(where: { $0.type == "page" }) { return page.webSocketDebuggerUrl }
            guard ContinuousClock.now < deadline else { throw Failure(description: "no page") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The value of an expression in the page, as text.
    package mutating func value(of expression: String) async throws -> String? {
        let answer = try await command("Runtime.evaluate", ["expression": "String(\(expression))"])
        return answer?["result"]?["result"]?["value"]?.string
    }

    /// Waits until an expression in the page is true, which may take 20 seconds.
    package mutating func wait(for expression: String) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while try await value(of: expression) != "true" {
            guard ContinuousClock.now < deadline else { throw Failure(description: "\(expression) is not true") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The page as a PNG file.
    package mutating func screenshot() async throws -> Data? {
        let answer = try await command("Page.captureScreenshot")
        return answer?["result"]?["data"]?.string.flatMap { Data(base64Encoded: $0) }
    }

    private struct Message: Encodable {
        let id: Int
        let method: String
        let params: [String: String]
    }

    /// Sends a command, and returns its answer.
    private mutating func command(_ method: String, _ parameters: [String: String] = [:]) async throws -> JSONValue? {
        count += 1
        let number = count
        let message = try JSONEncoder().encode(Message(id: number, method: method, params: parameters))
        try await socket.send(String(decoding: message, as: UTF8.self))
        for try await message in socket.messages {
            guard case .text(let text) = message else { continue }
            let message = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
            if message["id"]?.int == number { return message }
        }
        return nil
    }

    /// The address that the browser writes into its profile once it listens.
    private static func address(_ profile: URL) async throws -> URL? {
        let deadline = ContinuousClock.now + .seconds(30)
        let file = profile.appending(path: "DevToolsActivePort")
        while ContinuousClock.now < deadline {
            if let text = try? String(decoding: Data(contentsOf: file), as: UTF8.self), text.contains("\n"),
                let port = text.split(separator: "\n").first
            {
                return URL(string: "http://127.0.0.1:\(port)/")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(description: "The browser does not listen.")
    }
}
