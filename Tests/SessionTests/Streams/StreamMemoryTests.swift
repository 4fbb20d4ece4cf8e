import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import Testing

/// In a separate process with its own memory; the server is in it, and keeps nothing.
@Suite(
    .leavesNothingAlive, .timeLimit(.minutes(2)),
    .enabled(if: !isSanitized, "a sanitizer keeps what was released for a while"))
struct StreamMemoryTests {
    @Test func streamedResponsesLeaveNoMemoryBehind() async {
        await #expect(processExitsWith: .success) {
            let configuration = MockServer.Configuration { $0.requestBodies = .streamed }
            let handler: MockServer.Handler = { request in
                do {
                    for try await _ in request.chunks {}
                    return MockResponse(body: .bytes(Data(count: 1024 * 1024)))
                } catch {
                    return .status(.badRequest)
                }
            }
            try await withMockServer(configuration: configuration, handler: handler) { server in
                let session = try HTTPSession()
                func post(_ times: Int) async throws {
                    for _ in 0..<times {
                        let request = try SessionRequest(
                            url: server.url("/"), method: .post, body: .data(Data(count: 1024 * 1024)))
                        let response = try await session.call(request).bytes()
                        let body = try await response.body.collect(upTo: .max)
                        try #require(body.count == 1024 * 1024)
                    }
                }
                // The memory of the first ones stays in use.
                try await post(100)
                let before = try processMemory("VmRSS")
                try await post(200)
                let growth = try processMemory("VmRSS") - before
                try #require(growth < 32 * 1024 * 1024)
                await session.shutdown()
            }
        }
    }
}
