import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct StreamedResponseTests {
    @Test func theBodyArrivesWhileItIsSent() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body, status: 404) })
        let response = try await session.call(makeRequest()).bytes(validation: .none)
        #expect(response.status.code == 404)
        var chunks = response.body.makeAsyncIterator()
        body.send("a")
        #expect(try await chunks.next() == Data("a".utf8))
        body.send("b")
        #expect(try await chunks.next() == Data("b".utf8))
        body.finish()
        #expect(try await chunks.next() == nil)
        #expect(response.metrics.count == 1)
    }

    @Test func anErrorInTheBodyIsASessionErrorWithTheHead() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let response = try await session.call(makeRequest()).bytes()
        body.fail(TransportError(.readTimeout, "Too slow."))
        let error = await #expect(throws: SessionError.self) { try await response.body.collect(upTo: 10) }
        #expect(error?.code == .timeout)
        #expect(error?.timeout == .idleRead)
        #expect(error?.head?.status == .ok)
    }

    @Test func leavingEarlyAbandonsTheBody() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        func readOne() async throws {
            let response = try await session.call(makeRequest()).bytes()
            body.send("a")
            for try await _ in response.body { break }
        }
        try await readOne()
        await body.waitForAbandonment()
    }

    @Test func collectingHasALimit() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data(count: 9)) })
        let error = await #expect(throws: SessionError.self) {
            try await session.call(makeRequest()).bytes().body.collect(upTo: 8)
        }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func largeBodiesAreWhole() async throws {
        let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) })
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: bytes) })
        #expect(try await session.call(makeRequest()).response().data == bytes)
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        task.resume()
        #expect(try await task.value.data == bytes)
    }
}
