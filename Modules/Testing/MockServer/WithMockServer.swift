/// Starts a server, runs a closure with it, and shuts it down, also when the closure throws.
///
/// ```swift
/// try await withMockServer(handler: { .text($0.path) }) { server in
///     let response = try await session.data(for: Request(url: server.url("/hello")))
/// }
/// ```
///
/// Fails as ``MockServer/start(tls:configuration:handler:)`` and as the closure does.
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

/// Runs a closure with a server that answers by routes, and shuts the server down.
public func withMockServer<Result>(
    routes: MockServer.Routes,
    tls identity: TestPKI.Identity? = nil,
    configuration: MockServer.Configuration = MockServer.Configuration(),
    perform: (MockServer) async throws -> Result
) async throws -> Result {
    let handler: MockServer.Handler = { await routes.respond(to: $0) }
    return try await withMockServer(tls: identity, configuration: configuration, handler: handler, perform: perform)
}

/// Runs a closure with a server whose response is always the same, and shuts the server down.
public func withMockServer<Result>(
    _ response: MockResponse,
    tls identity: TestPKI.Identity? = nil,
    configuration: MockServer.Configuration = MockServer.Configuration(),
    perform: (MockServer) async throws -> Result
) async throws -> Result {
    try await withMockServer(tls: identity, configuration: configuration, handler: { _ in response }, perform: perform)
}
