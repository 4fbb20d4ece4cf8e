/// Starts a server, runs a closure with it, and shuts it down, even when the closure throws.
///
/// ```swift
/// try await withMockServer(handler: { .text($0.path) }) { server in
///     let response = try await session.call(SessionRequest(url: server.url("/hello"))).response()
/// }
/// ```
///
/// - Parameters:
///   - identity: The certificate chain and key for TLS. Nil, the default, serves plain HTTP.
///   - configuration: The settings of the server.
///   - handler: Answers the requests.
///   - perform: The closure that uses the server.
/// - Returns: The result of the closure.
/// - Throws: The errors of ``MockServer/start(tls:configuration:handler:)`` and of the closure.
public func withMockServer<Result>(
    tls identity: TestPKI.Identity? = nil,
    configuration: MockServer.Configuration = MockServer.Configuration(),
    handler: @escaping MockServer.Handler,
    perform: (MockServer) async throws -> Result
) async throws -> Result {
    let server = try await MockServer.start(tls: identity, configuration: configuration, handler: handler)
    do {
        let result = try await perform(server)
        await server.shutdown()
        return result
    } catch {
        await server.shutdown()
        throw error
    }
}

/// Starts a server that answers requests with routes, runs a closure with it, and shuts it down.
public func withMockServer<Result>(
    routes: MockServer.Routes,
    tls identity: TestPKI.Identity? = nil,
    configuration: MockServer.Configuration = MockServer.Configuration(),
    perform: (MockServer) async throws -> Result
) async throws -> Result {
    let handler: MockServer.Handler = { await routes.respond(to: $0) }
    return try await withMockServer(tls: identity, configuration: configuration, handler: handler, perform: perform)
}

/// Starts a server with a fixed response, runs a closure with it, and shuts it down.
public func withMockServer<Result>(
    _ response: MockResponse,
    tls identity: TestPKI.Identity? = nil,
    configuration: MockServer.Configuration = MockServer.Configuration(),
    perform: (MockServer) async throws -> Result
) async throws -> Result {
    try await withMockServer(tls: identity, configuration: configuration, handler: { _ in response }, perform: perform)
}
