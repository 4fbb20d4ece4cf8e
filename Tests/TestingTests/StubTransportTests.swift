import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct StubTransportTests {
    @Test(arguments: [
        (StubTransport.Response.status(.created), HTTPResponse.Status.created), (.status(404), .notFound),
        (.json("[]", status: .accepted), .accepted), (.stream(finished, status: .partialContent), .partialContent),
    ])
    func aResponseHasItsStatus(_ stub: StubTransport.Response, _ status: HTTPResponse.Status) async throws {
        let transport = StubTransport { _ in stub }
        let head = HTTPRequest(method: .get, scheme: "http", authority: "example.test", path: "/")
        let response = try await transport.send(TransportRequest(head: head), observer: nil)
        #expect(response.head.status == status)
        #expect(transport.requests.map(\.index) == [0])
        await transport.shutdown(.immediate)
    }

    @Test func eachWaitTakesADemandOfItsOwn() async throws {
        let body = StubTransport.Body()
        var reader = try await Self.reader(of: body)
        for _ in 1...3 {
            #expect(!body.send(Self.piece) && !body.send(Self.piece))
            let order = EventRecorder<String>()
            let waiting = Task {
                await body.waitForDemand()
                order.record("demand")
            }
            // The task has time to return too early.
            for _ in 0..<100 { await Task.yield() }
            order.record("read")
            #expect(try await reader.next()?.readableBytes == Self.piece.count)
            await waiting.value
            #expect(order.events == ["read", "demand"])
            // The second piece arrived with the first.
            #expect(try await reader.next()?.readableBytes == Self.piece.count)
        }
    }

    @Test func demandsBeforeTheWaitsAreCounted() async throws {
        let body = StubTransport.Body()
        var reader = try await Self.reader(of: body)
        for _ in 1...3 {
            #expect(!body.send(Self.piece))
            #expect(try await reader.next() != nil)
        }
        for _ in 1...3 { await body.waitForDemand() }
        #expect(!body.send(Self.piece))
        let waiting = Task { await body.waitForDemand() }
        #expect(try await reader.next() != nil)
        await waiting.value
    }

    @Test func aCancelledWaitEndsAndTakesNoDemand() async throws {
        let body = StubTransport.Body()
        var reader = try await Self.reader(of: body)
        #expect(!body.send(Self.piece))
        let cancelled = Task { await body.waitForDemand() }
        cancelled.cancel()
        await cancelled.value
        #expect(try await reader.next() != nil)
        await body.waitForDemand()
    }

    /// More than a reader lets wait.
    private static let piece = Data(repeating: 0, count: 1 << 20)

    private static func reader(of body: StubTransport.Body) async throws -> TransportResponseBody.Iterator {
        let transport = StubTransport { _ in .stream(body) }
        let head = HTTPRequest(method: .get, scheme: "http", authority: "example.test", path: "/")
        let request = TransportRequest(head: head, delivery: .streamed)
        return try await transport.send(request, observer: nil).body.makeAsyncIterator()
    }

    private static var finished: StubTransport.Body {
        let body = StubTransport.Body()
        body.finish()
        return body
    }
}
