import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport

/// The versions of HTTP that behaviour on the wire is tested over; both without TLS.
enum Version: CaseIterable, Sendable {
    case http1, http2

    var ofClient: HTTPVersions {
        switch self {
        case .http1: .http1
        case .http2: .http2
        }
    }

    var ofServer: MockServer.Configuration.HTTPVersions {
        switch self {
        case .http1: .http1
        case .http2: .http2
        }
    }
}

/// A server and its client, for the duration of the operation.
func withMockClient<Result>(
    _ version: Version = .http1, configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
    routes: (inout MockServer.Routes) -> Void, perform: (HTTPSession, MockServer) async throws -> Result
) async throws -> Result {
    var serverConfiguration = MockServer.Configuration()
    serverConfiguration.httpVersions = version.ofServer
    return try await withMockServer(routes: MockServer.Routes(routes), configuration: serverConfiguration) { server in
        let client = try HTTPSession(baseURL: server.url) {
            $0.httpVersions = version.ofClient
            try configure(&$0)
        }
        do {
            let result = try await perform(client, server)
            await client.shutdown()
            return result
        } catch {
            await client.shutdown(.immediate)
            throw error
        }
    }
}

/// The pieces of a body. All but the first come when the gate is open.
struct GatedPieces: AsyncSequence, Sendable {
    typealias Element = Data

    let pieces: [Data]
    let gate: Signal

    func makeAsyncIterator() -> Iterator { Iterator(pieces: pieces, gate: gate) }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: [Data]
        let gate: Signal
        private var index = 0

        init(pieces: [Data], gate: Signal) {
            (self.pieces, self.gate) = (pieces, gate)
        }

        mutating func next() async throws -> Data? {
            guard index < pieces.count else { return nil }
            if index > 0 { await gate.wait() }
            defer { index += 1 }
            return pieces[index]
        }
    }
}
