import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

/// Responses that are malformed as a whole, to a server that sees each frame: NIO's server hides frames of closed
/// streams.
@Suite("Malformed HTTP/2 responses", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct MalformedResponseTests {
    /// The error codes of the RST_STREAM frames in a client's bytes, and the number of its requests.
    private static func read(_ bytes: Data) -> (resets: [UInt8], requests: Int) {
        var (resets, requests): ([UInt8], Int) = ([], 0)
        // Behind the preface.
        var rest = [UInt8](bytes.dropFirst(24))[...]
        while rest.count >= 9 {
            let start = rest.startIndex
            let length = Int(rest[start]) << 16 | Int(rest[start + 1]) << 8 | Int(rest[start + 2])
            guard rest.count >= 9 + length else { break }
            if rest[start + 3] == 1 { requests += 1 }
            if rest[start + 3] == 3 { resets.append(rest[start + 12]) }
            rest = rest.dropFirst(9 + length)
        }
        return (resets, requests)
    }

    /// `:status: 200`, `content-length: 3`.
    private static let three: [UInt8] = [0x88, 0x0F, 0x0D, 1, 0x33]

    /// RFC 9113, 5.4.2 and 8.1.1: the stream is reset, although both sides have ended it.
    @Test(arguments: [
        [rawFrame(type: 1, flags: 5, stream: 1, three)],
        [rawFrame(type: 1, flags: 4, stream: 1, three), rawFrame(type: 0, flags: 1, stream: 1, [1, 2])],
        [rawFrame(type: 1, flags: 4, stream: 1, three), rawFrame(type: 0, flags: 1, stream: 1, [1, 2, 3, 4])],
        // `:status: 103`, which is no final response.
        [rawFrame(type: 1, flags: 5, stream: 1, [0x08, 3, 0x31, 0x30, 0x33])],
    ])
    func aMalformedResponseThatHasEndedIsReset(response: [[UInt8]]) async throws {
        let resets = Log<[UInt8]>()
        let server = try await MockServer.startRaw { connection in
            try await connection.write(Data(rawFrame(type: 4)))
            var bytes = Data()
            var hasAnswered = false
            while let more = try await connection.read() {
                bytes.append(more)
                let (seen, requests) = Self.read(bytes)
                if requests == 1, !hasAnswered {
                    hasAnswered = true
                    try await connection.write(Data(response.joined()))
                }
                // The second request comes after the effects of the first one.
                guard requests == 2 else { continue }
                resets.add(seen)
                return try await connection.write(Data(rawFrame(type: 1, flags: 5, stream: 3, [0x88])))
            }
        }
        try await withTransport({ $0.httpVersions = .http2 }) { transport in
            let error = await failure { () async throws(TransportError) in try await transport.send(server.request()) }
            #expect(error?.code == .invalidResponse)
            let next = try await transport.send(server.request())
            #expect(next.head.status == .ok)
        }
        #expect(await resets.first() == [1])
        await server.shutdown()
    }
}
