import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetOAuth

/// The parameters of a request to an issuer.
struct Form: Sendable {
    let parameters: [(name: String, value: String)]

    init(_ text: String) {
        parameters = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (FormEncoding.decode(parts[0]), parts.count > 1 ? FormEncoding.decode(parts[1]) : "")
        }
    }

    subscript(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    func all(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }
}

extension RecordedRequest {
    var form: Form { Form(bodyText) }
}

/// Runs a test with a client of an issuer whose endpoints are those of a mock server.
func withIssuer<Result>(
    _ respond: @escaping @Sendable (RecordedRequest) async -> MockResponse,
    authentication: OAuthClient.Authentication = .none, configure: (inout OAuthClient) throws -> Void = { _ in },
    perform: (OAuthClient, MockServer) async throws -> Result
) async throws -> Result {
    try await withMockServer(handler: { await respond($0) }) { server in
        try await withSession { session in
            let url = server.url
            let metadata = OAuthServerMetadata(issuer: url.absoluteString, tokenEndpoint: url.appending(path: "token"))
            {
                $0.authorizationEndpoint = url.appending(path: "authorize")
                $0.deviceAuthorizationEndpoint = url.appending(path: "device")
                $0.revocationEndpoint = url.appending(path: "revoke")
            }
            var client = OAuthClient(id: "finch", authentication: authentication, server: metadata, session: session)
            try configure(&client)
            return try await perform(client, server)
        }
    }
}

/// Runs a test with a session.
func withSession<Result>(
    _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
    perform: (HTTPSession) async throws -> Result
) async throws -> Result {
    let session = try HTTPSession(baseURL: nil, configure)
    do {
        let result = try await perform(session)
        await session.shutdown()
        return result
    } catch {
        await session.shutdown(.immediate)
        throw error
    }
}

/// A token response.
func tokenAnswer(_ access: String, refresh: String? = nil, lifetime: Int? = 3600) -> MockResponse {
    var members = ["\"access_token\":\"\(access)\"", "\"token_type\":\"bearer\""]
    if let refresh { members.append("\"refresh_token\":\"\(refresh)\"") }
    if let lifetime { members.append("\"expires_in\":\(lifetime)") }
    return .json("{" + members.joined(separator: ",") + "}")
}

/// An error response.
func errorAnswer(_ error: String, status: HTTPResponse.Status = .badRequest) -> MockResponse {
    .json("{\"error\":\"\(error)\"}", status: status)
}

/// An issuer that rotates one refresh token: `r0` gets `a1` and `r1`, and so on. Each is accepted once.
final class RotatingIssuer: Sendable {
    private struct State {
        var count = 0
        var violations = 0
    }

    private let state = Mutex(State())
    let lifetime: Int?

    init(lifetime: Int? = 3600) { self.lifetime = lifetime }

    /// The number of renewals.
    var count: Int { state.withLock(\.count) }
    /// The number of refresh tokens that were not the present one.
    var violations: Int { state.withLock(\.violations) }

    func respond(to request: RecordedRequest) -> MockResponse {
        let token = request.form["refresh_token"]
        let next = state.withLock { state -> Int? in
            guard token == "r\(state.count)" else {
                state.violations += 1
                return nil
            }
            state.count += 1
            return state.count
        }
        guard let next else { return errorAnswer("invalid_grant") }
        return tokenAnswer("a\(next)", refresh: "r\(next)", lifetime: lifetime)
    }
}

/// Waits until a condition that another task fulfils is true. The time limit of the suite bounds it.
func poll(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

/// The error that an operation throws; nil if it throws none, or one of another type.
func oauthError<Value>(_ operation: () async throws -> Value) async -> OAuthError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        if !(error is OAuthError) { Issue.record(error) }
        return error as? OAuthError
    }
}
