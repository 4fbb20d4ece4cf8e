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
        let rules = TokenAuthenticator(issuer: session.post(issuer))
        let token = RenewableCredential(rules, for: [Origin(url)].compactMap(\.self))
        let api = try HTTPSession {
            $0.authenticator = .renewing(token)
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
            // A failure of the issuer is not a failure of the API.
            if error.code == .credentialRenewalFailed { return "no token: \(error.underlying ?? error)" }
            return "\(error.code): \(error)"
        }
    }
}

struct Token: Decodable, Sendable {
    let access: String
}

struct TokenAuthenticator: Authenticator {
    let issuer: HTTPCall

    func apply(_ token: Token, to request: inout SessionRequest) {
        request.headerFields[.authorization] = "Bearer \(token.access)"
    }

    func renew(_ token: Token?) async throws -> Token { try await issuer.value(as: Token.self) }
}
