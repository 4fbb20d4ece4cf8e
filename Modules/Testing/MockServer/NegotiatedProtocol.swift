/// The version of HTTP that a connection has come to, and what serves it.
enum NegotiatedProtocol: Sendable {
    case http1(HTTP1Connection)
    case http2(HTTP2Connection)

    func serve() async throws {
        switch self {
        case .http1(let connection): try await connection.serve()
        case .http2(let connection): await connection.serve()
        }
    }
}
