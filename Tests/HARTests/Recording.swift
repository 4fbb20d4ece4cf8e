import FoundationEssentials
import HTTPTypes
import LinnetHAR
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// The versions of HTTP over which tests record, without TLS.
enum Version: CaseIterable, Sendable {
    case http1, http2

    var ofClient: HTTPVersions { self == .http1 ? .http1 : .http2 }
    var ofServer: MockServer.Configuration.HTTPVersions { self == .http1 ? .http1 : .http2 }
    var name: String { self == .http1 ? "HTTP/1.1" : "HTTP/2" }
}

/// A transport over sockets.
func makeTransport(_ version: Version = .http1) throws -> HTTPTransport {
    var configuration = TransportConfiguration()
    configuration.httpVersions = version.ofClient
    return try HTTPTransport(configuration)
}

/// Runs a test with a session over a transport, which is shut down.
func withSession<Result>(
    _ url: URL?, _ transport: any Transport,
    _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
    perform: (HTTPSession) async throws -> Result
) async throws -> Result {
    var configuration = HTTPSession.Configuration()
    try configure(&configuration)
    let session = try HTTPSession(baseURL: url, configuration: configuration, transport: transport)
    do {
        let result = try await perform(session)
        await session.shutdown()
        return result
    } catch {
        await session.shutdown(.immediate)
        throw error
    }
}

/// Runs a test with a server.
func withServer<Result>(
    _ version: Version = .http1, _ handler: @escaping MockServer.Handler,
    perform: (MockServer) async throws -> Result
) async throws -> Result {
    var configuration = MockServer.Configuration()
    configuration.httpVersions = version.ofServer
    return try await withMockServer(configuration: configuration, handler: handler) { try await perform($0) }
}

/// The log of what a session does with a server.
func recorded(
    _ version: Version = .http1, _ recorder: HARRecorder = HARRecorder { $0.bodies = .all },
    session configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
    handler: @escaping MockServer.Handler, perform: (HTTPSession) async throws -> Void
) async throws -> HAR {
    try await withServer(version, handler) { server in
        let transport = recorder.transport(over: try makeTransport(version))
        try await withSession(server.url, transport, configure, perform: perform)
    }
    return recorder.har
}

extension HAR.Response {
    subscript(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
}

/// A transport on which nothing may be sent.
func makeForbiddenTransport() -> StubTransport {
    StubTransport { request in
        Issue.record("The request \(request.head.path ?? "") was sent over the network.")
        return .status(.internalServerError)
    }
}
