import ArgumentParser
import Linnet

/// Requests a URL several times at once with a bearer token, which is requested once, and again when it is refused.
@main
struct TokenRefresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-token-refresh")

    @Argument(help: "The URL of the resource.")
    var url: String

    @Argument(help: "The URL that issues tokens.")
    var issuer: String

    @Option(help: "The number of requests.")
    var count = 3

    func run() async throws {
        let session = try HTTPSession()
        let tokens = TokenSource(session: session, url: issuer)
        let bearer = BearerInterceptor(origin: Origin(url), tokens: tokens)
        let api = try HTTPSession { $0.interceptors = [bearer] }
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count { group.addTask { [url] in try await api.get(url).text() } }
            for try await text in group { print(text) }
        }
        await api.shutdown()
        await session.shutdown()
    }
}

struct Token: Decodable, Sendable {
    let access: String
}

/// Holds the token. Requests that need a new one at the same time wait for the same response.
actor TokenSource {
    private let session: HTTPSession
    private let url: String
    private var current: String?
    private var refresh: Task<String, any Error>?

    init(session: HTTPSession, url: String) {
        self.session = session
        self.url = url
    }

    func token(replacing refused: String? = nil) async throws -> String {
        if let current, current != refused { return current }
        let task =
            refresh
            ?? Task {
                defer { refresh = nil }
                let token = try await session.post(url).value(as: Token.self).access
                current = token
                return token
            }
        refresh = task
        return try await task.value
    }
}

/// Adds the token to requests to one origin.
struct BearerInterceptor: Interceptor {
    let origin: Origin?
    let tokens: TokenSource

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        guard try Origin(request.url) == origin else { return try await next(request) }
        var request = request
        let token = try await tokens.token()
        request.headerFields[.authorization] = "Bearer \(token)"
        let response = try await next(request)
        guard response.head.status == .unauthorized else { return response }
        // A body that was read to its end leaves its connection to others.
        _ = try? await response.body.collect(upTo: 64 * 1024)
        request.headerFields[.authorization] = "Bearer \(try await tokens.token(replacing: token))"
        return try await next(request)
    }
}
