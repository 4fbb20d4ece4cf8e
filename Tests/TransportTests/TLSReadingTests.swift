import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import NIOCore
import Testing

@testable import LinnetTransport

/// Received bytes do not change, however long they are kept and whatever is read later.
@Suite("Reading over TLS", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TLSReadingTests {
    private static func bytes(_ count: Int) -> Data {
        var (state, bytes) = (UInt32(1), Data(capacity: count))
        for _ in 0..<count {
            state = state &* 1_664_525 &+ 1_013_904_223
            bytes.append(UInt8(truncatingIfNeeded: state >> 24))
        }
        return bytes
    }

    private func withServer(
        _ body: MockResponse.Body, perform: @Sendable (HTTPTransport, MockServer) async throws -> Void
    ) async throws {
        let pki = try TestPKI()
        let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        try await withMockServer(tls: try pki.identity()) { _ in
            MockResponse(body: body)
        } perform: { server in
            try await withTransport({ $0.securityPolicy = policy }) { try await perform($0, server) }
        }
    }

    @Test(arguments: [1, 1_000, 4_096, 16_384, 16_385, 65_536, 2_000_000])
    func aReaderMayKeepAllPieces(count: Int) async throws {
        let expected = Self.bytes(count)
        try await withServer(.bytes(expected)) { transport, server in
            let response = try await transport.send(server.request(delivery: .streamed))
            var pieces: [ByteBuffer] = []
            for try await piece in response.body { pieces.append(piece) }
            #expect(Data(pieces.flatMap { Array($0.readableBytesView) }) == expected)
        }
    }

    @Test(arguments: [1, 700, 5_000])
    func recordsOfAnySizeAreRead(size: Int) async throws {
        let expected = Self.bytes(120_000)
        let pieces = stride(from: 0, to: expected.count, by: size).map { expected[$0..<min($0 + size, expected.count)] }
        try await withServer(.chunks(size == 1 ? Array(pieces.prefix(3_000)) : pieces)) { transport, server in
            let response = try await transport.send(server.request())
            let whole = try #require(response.body.whole)
            #expect(Data(whole.readableBytesView) == (size == 1 ? expected.prefix(3_000) : expected))
        }
    }

    @Test func oneResponseDoesNotChangeAnother() async throws {
        let expected = Self.bytes(1_000)
        try await withServer(.bytes(expected)) { transport, server in
            var responses: [TransportResponse] = []
            for _ in 0..<20 { responses.append(try await transport.send(server.request())) }
            #expect(responses.allSatisfy { $0.body.whole.map { Data($0.readableBytesView) } == expected })
            #expect(responses.last?.metrics.isReusedConnection == true)
        }
    }
}
