import HTTPTypes
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.timeLimit(.minutes(1))) struct StubTransportTests {
    @Test(arguments: [
        (StubResponse.status(.created), HTTPResponse.Status.created), (.status(404), .notFound),
        (.json("[]", status: .accepted), .accepted), (.stream(finished, status: .partialContent), .partialContent),
    ])
    func aResponseHasItsStatus(_ stub: StubResponse, _ status: HTTPResponse.Status) async throws {
        let transport = StubTransport { _ in stub }
        let head = HTTPRequest(method: .get, scheme: "http", authority: "example.test", path: "/")
        let response = try await transport.send(TransportRequest(head: head), observer: nil)
        #expect(response.head.status == status)
        #expect(transport.requests.map(\.index) == [0])
        await transport.shutdown(.immediate)
    }

    private static var finished: StubBody {
        let body = StubBody()
        body.finish()
        return body
    }
}
