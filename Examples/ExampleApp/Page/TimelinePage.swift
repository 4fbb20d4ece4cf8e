import FoundationEssentials
import HTTPTypes
import LinnetImageSerialization
import LinnetTesting

/// Shows the program as a web page, on a free port of the loopback address.
@MainActor
final class TimelinePage {
    private let feed = PageFeed()
    private let program: TimelineProgram

    init(_ program: TimelineProgram) {
        self.program = program
        program.onChange = { [feed] in feed.publish($0) }
        feed.publish(program.state)
    }

    /// Starts a server for the page. Call ``end()`` before shutting the server down.
    func startServer() async throws(TestingError) -> MockServer {
        // No request of the page has a body, and the server would keep recorded ones.
        let configuration = MockServer.Configuration { $0.requestBodies = .collected(upTo: 0) }
        return try await MockServer.start(configuration: configuration) { [self] request in await answer(request) }
    }

    /// Ends the streams of events.
    func end() {
        program.onChange = nil
        feed.finish()
    }

    private func answer(_ request: RecordedRequest) -> MockResponse {
        guard Self.isOwn(request) else { return .text("This page is for this machine only.", status: .forbidden) }
        switch (request.method, request.path) {
        case (.get, "/"): return Self.asset(PageAssets.html, "text/html")
        case (.get, "/timeline.css"): return Self.asset(PageAssets.css, "text/css")
        case (.get, "/timeline.js"): return Self.asset(PageAssets.script, "text/javascript")
        case (.get, "/events"):
            let fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
            return MockResponse(headerFields: fields, body: .stream(feed.events()))
        case (.get, let path) where path.hasPrefix("/avatars/"): return avatar(path)
        case (.post, let path) where path.hasPrefix("/commands/"): return perform(path, request.query)
        default: return .status(.notFound)
        }
    }

    /// Whether a request comes from the page. Other sites cannot send commands. They cannot read the timeline either,
    /// even with a name that points to this machine.
    private static func isOwn(_ request: RecordedRequest) -> Bool {
        let authority = request.authority ?? ""
        let host = authority.split(separator: ":").first ?? ""
        guard ["127.0.0.1", "localhost"].contains(host) else { return false }
        let origin = HTTPField.Name("Origin").flatMap { request.headerFields[$0] }
        return origin == nil || origin == "http://\(authority)"
    }

    private static func asset(_ text: String, _ type: String) -> MockResponse {
        var response = MockResponse(headerFields: [.contentType: type + "; charset=utf-8"], body: .text(text))
        response.headerFields[.cacheControl] = "no-store"
        response.headerFields[.contentSecurityPolicy] = "default-src 'self'; frame-ancestors 'none'"
        return response
    }

    private func avatar(_ path: String) -> MockResponse {
        let number = Int(path.dropFirst("/avatars/".count).prefix { $0 != "." })
        guard let avatar = program.state.avatars.values.first(where: { $0.number == number }),
            let png = try? avatar.picture.pngData()
        else { return .status(.notFound) }
        return MockResponse(headerFields: [.contentType: "image/png", .cacheControl: "max-age=60"], body: .bytes(png))
    }

    private func perform(_ path: String, _ query: String?) -> MockResponse {
        let command: TimelineCommand
        switch path.dropFirst("/commands/".count) {
        case "refresh": command = .refresh
        case "download":
            guard let id = query.flatMap({ $0.hasPrefix("post=") ? Int($0.dropFirst(5)) : nil }) else {
                return .status(.badRequest)
            }
            command = .download(post: id)
        case "suspend": command = .suspend
        case "cancel": command = .cancel
        case "upload": command = .upload
        default: return .status(.notFound)
        }
        program.send(.command(command))
        return .status(.noContent)
    }
}
