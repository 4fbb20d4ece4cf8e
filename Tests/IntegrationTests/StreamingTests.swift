import FoundationEssentials
import Linnet
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct StreamingTests {
    private let file = ServedFile.large

    @Test(arguments: [Server.plain, .tls])
    func aLargeBodyIsReadAsItArrives(server: Server) async throws {
        try await server.withSession { session in
            let response = try await session.get(file.path).bytes()
            #expect(response.status == .ok)
            let expected = file.bytes
            var offset = 0
            var chunks = 0
            for try await chunk in response.body {
                #expect(chunk == expected.dropFirst(offset).prefix(chunk.count))
                offset += chunk.count
                chunks += 1
            }
            #expect(offset == file.size)
            #expect(chunks > 1)
            #expect(response.metrics.last?.responseBodyBytes == Int64(file.size))
            #expect(response.metrics.last?.responseEnd != nil)
        }
    }

    @Test func aFullyReadStreamLeavesItsConnectionReusable() async throws {
        try await Server.plain.withSession { session in
            let response = try await session.get(file.path).bytes()
            #expect(try await response.body.collect(upTo: file.size).count == file.size)
            let next = try await session.get("1k").response()
            #expect(next.metrics.last?.isReusedConnection == true)
        }
    }

    @Test func leavingBeforeTheEndClosesTheConnection() async throws {
        try await Server.plain.withSession { session in
            for _ in 0..<20 {
                for try await chunk in try await session.get(file.path).bytes().body {
                    #expect(!chunk.isEmpty)
                    break
                }
            }
            let next = try await session.get("1k").response()
            #expect(next.value == ServedFile.small.bytes)
            #expect(next.metrics.last?.isReusedConnection == false)
        }
    }

    @Test func aStreamOfMoreThanTheLimitFails() async throws {
        try await Server.plain.withSession { session in
            let response = try await session.get(file.path).bytes()
            let error = await #expect(throws: SessionError.self) { try await response.body.collect(upTo: 100_000) }
            #expect(error?.code == .bodyTooLarge)
        }
    }

    @Test(arguments: Surface.allCases)
    func aBodyOfMoreThanTheSessionsLimitFails(surface: Surface) async throws {
        try await Server.plain.withSession {
            $0.maximumBodySize = 100_000
        } run: { session in
            let error = await #expect(throws: SessionError.self) { try await surface.data(file.path, on: session) }
            #expect(error?.code == .bodyTooLarge)
            let next = try await surface.data("bytes-64k", on: session)
            #expect(next.value == ServedFile.middle.bytes)
        }
    }

    @Test func anErrorPageCanBeStreamed() async throws {
        try await Server.plain.withSession { session in
            let response = try await session.get("error-500").bytes(validation: .none)
            #expect(response.status.code == 500)
            let page = String(decoding: try await response.body.collect(upTo: 10_000), as: UTF8.self)
            #expect(page.contains("Something went wrong."))
        }
    }
}
