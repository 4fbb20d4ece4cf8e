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

    @Option(help: "The number of requests at once.")
    var count = 3

    @Option(help: "How often they are sent.")
    var rounds = 1

    @Option(help: "The time limit of a request, in seconds.")
    var limit = 30

    func run() async throws {
        let session = try HTTPSession()
        let tokens = TokenSource(issuer: session.post(issuer))
        let api = try HTTPSession {
            $0.interceptors = [BearerInterceptor(origin: Origin(url), tokens: tokens)]
            $0.timeouts.request = .seconds(limit)
        }
        for _ in 0..<rounds {
            await withTaskGroup(of: String.self) { group in
                for _ in 0..<count { group.addTask { await text(from: api) } }
                for await text in group { print(text) }
            }
        }
        await api.shutdown()
        await session.shutdown(.immediate)
    }

    private func text(from api: HTTPSession) async -> String {
        do throws(SessionError) {
            return try await api.get(url).text()
        } catch {
            // A failure of the token is not a failure of the API.
            if let failure = error.underlying as? TokenError { return "no token: \(failure.cause)" }
            return "\(error.code): \(error)"
        }
    }
}

struct Token: Decodable, Sendable {
    let access: String
}

/// There is no token for a request. The request fails with `interceptorFailed`, and this is the underlying error.
struct TokenError: Error {
    let cause: SessionError
}

/// Holds the token. Requests that need a new one at the same time wait for the same response.
actor TokenSource {
    private let issuer: HTTPCall
    /// The request for the token: it runs, has the token, or has failed.
    private var task: DataTask<Token>?

    init(issuer: HTTPCall) { self.issuer = issuer }

    /// Returns the token, once there is one. A request that is cancelled or reaches its time limit ends its own wait alone.
    func token() async throws -> String {
        if case .failure? = task?.result { task = nil }
        let task = task ?? issuer.task(as: Token.self)
        self.task = task
        do throws(SessionError) {
            return try await task.value.value.access
        } catch {
            // Without a result, the wait was cancelled, and the task continues for the others.
            if task.result == nil { throw error }
            throw TokenError(cause: error)
        }
    }

    /// Forgets a token that was refused, unless there is another one already.
    func discard(_ token: String) {
        if case .success(let response)? = task?.result, response.value.access == token { task = nil }
    }
}

/// Adds the token to requests to one origin.
struct BearerInterceptor: Interceptor {
    let origin: Origin?
    let tokens: TokenSource

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        guard try Origin(request.url) == origin else { return try await next(request) }
        let response = try await send(request, next)
        guard response.head.status == .unauthorized else { return response }
        // A body that was read to its end leaves its connection to others.
        _ = try? await response.body.collect(upTo: 64 * 1024)
        return try await send(request, next)
    }

    private func send(_ request: SessionRequest, _ next: InterceptorChain) async throws -> StreamedResponse {
        var request = request
        let token = try await tokens.token()
        request.headerFields[.authorization] = "Bearer \(token)"
        let response = try await next(request)
        if response.head.status == .unauthorized { await tokens.discard(token) }
        return response
    }
}
