import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct SessionCopyTests {
    @Test func aCopyIsASeparateSession() async throws {
        try await withMockClient(configure: { $0.headerFields = [.userAgent: "Finch"] }) {
            $0.on("/a", .json("1"))
        } perform: { client, server in
            let copy = try client.copy()
            await client.shutdown()
            let response = try await copy.get("a").response(JSONResponseSerializer())
            #expect(response.value == 1)
            #expect(copy.baseURL == client.baseURL)
            #expect(server.recordedRequests.last?.headerFields[.userAgent] != nil)
            await copy.shutdown()
        }
        #expect(throws: SessionError.self) { try makeClient().copy() }
    }

    @Test func aResponsesValueIsMapped() async throws {
        struct Oops: Error {}
        let response = try await makeClient(StubTransport { _ in .json("41") }).get("a").response(
            JSONResponseSerializer())
        let mapped = response.map { "\(String(describing: $0))" }
        #expect(mapped.value.contains("41"))
        #expect(mapped.head == response.head)
        #expect(mapped.data == response.data)
        #expect(throws: Oops.self) { try response.map { _ throws(Oops) -> Int in throw Oops() } }
    }

    @Test func aVerbTakesHooks() async throws {
        let transport = StubTransport { $0.index == 0 ? .status(302, headerFields: [.location: "/b"]) : .json("1") }
        var hooks = TaskHooks()
        hooks.willRedirect = { _, _, request in
            var request = request
            request.headerFields[.accept] = "hooked"
            return .follow(request)
        }
        let client = try makeClient(transport)
        let response = try await client.call(.get, "a").hooks(hooks).response(JSONResponseSerializer())
        #expect(response.value == 1)
        #expect(transport.requests[1].head.headerFields[.accept] == "hooked")
    }
}
