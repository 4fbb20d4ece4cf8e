import FoundationEssentials
import HTTPTypes
import LinnetImageSerialization
import LinnetTesting

/// The face as a web page, on a free port of the loopback address: states are server-sent events, and each button is a
/// command.
@MainActor
final class TimelinePage {
    /// The size of the largest file that the page uploads, in bytes: the app has it in memory.
    static let maximumFileSize = 64 << 20
    private let model: TimelineModel

    init(_ model: TimelineModel) { self.model = model }

    /// Starts a server for the page. End the model before shutting the server down.
    func startServer() async throws(TestingError) -> MockServer {
        // The server would keep collected bodies with the requests that it records.
        let configuration = MockServer.Configuration { $0.requestBodies = .streamed }
        // The page shows all posts.
        Task { [model] in for await state in model.states { model.loadPictures(of: state.posts) } }
        return try await MockServer.start(configuration: configuration) { [self] request in await answer(request) }
    }

    private func answer(_ request: RecordedRequest) async -> MockResponse {
        guard Self.isOwn(request) else { return .text("This page is for this machine only.", status: .forbidden) }
        let parts = request.path.split(separator: "/")
        switch (request.method, parts.first) {
        case (.get, nil): return Self.asset(PackageResources.timeline_html, "text/html")
        case (.get, "timeline.css"): return Self.asset(PackageResources.timeline_css, "text/css")
        case (.get, "timeline.js"): return Self.asset(PackageResources.timeline_js, "text/javascript")
        case (.get, "events"): return events()
        case (.get, "avatars"): return avatar(of: post(String(parts.last?.split(separator: ".").first ?? "")))
        case (.post, "commands"):
            guard let command = TimelineCommand(rawValue: String(parts.last ?? "")) else { return .status(.notFound) }
            let id = request.query?.split(separator: "=").last.map(String.init)
            model.perform(command, on: id.map(post) ?? model.state.posts.first)
            return .status(.noContent)
        case (.post, "files"): return await upload(request)
        default: return .status(.notFound)
        }
    }

    /// Whether a request comes from the page. Other sites cannot send commands. They cannot read the timeline either,
    /// even with a name that points to this machine.
    private static func isOwn(_ request: RecordedRequest) -> Bool {
        let authority = request.authority ?? ""
        guard ["127.0.0.1", "localhost"].contains(authority.split(separator: ":").first) else { return false }
        let origin = HTTPField.Name("Origin").flatMap { request.headerFields[$0] }
        return origin == nil || origin == "http://\(authority)"
    }

    private static func asset(_ bytes: [UInt8], _ type: String) -> MockResponse {
        let fields: HTTPFields = [
            .contentType: type + "; charset=utf-8", .cacheControl: "no-store",
            .contentSecurityPolicy: "default-src 'self'; frame-ancestors 'none'",
        ]
        return MockResponse(headerFields: fields, body: .bytes(Data(bytes)))
    }

    private func events() -> MockResponse {
        let fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        let events = model.states.map { @Sendable in try PageState($0, now: Date()).event }
        return MockResponse(headerFields: fields, body: .stream(events))
    }

    /// Uploads a file that was dropped onto the page; its name is in the query.
    private func upload(_ request: RecordedRequest) async -> MockResponse {
        let query = URLComponents(string: request.target)?.queryItems
        let name = query?.first { $0.name == "name" }?.value ?? ""
        guard !name.isEmpty else { return .status(.badRequest) }
        var file = Data()
        do {
            for try await chunk in request.chunks {
                file += chunk
                if file.count > Self.maximumFileSize {
                    return MockResponse(status: .contentTooLarge, closesConnection: true)
                }
            }
        } catch {
            return .status(.badRequest)
        }
        model.upload(file, named: name)
        return .status(.noContent)
    }

    private func post(_ id: String) -> Post? { model.state.posts.first { String($0.id) == id } }

    private func avatar(of post: Post?) -> MockResponse {
        guard let post, let png = try? model.state.avatars[post.user]?.pngData() else { return .status(.notFound) }
        return MockResponse(headerFields: [.contentType: "image/png", .cacheControl: "max-age=60"], body: .bytes(png))
    }
}
