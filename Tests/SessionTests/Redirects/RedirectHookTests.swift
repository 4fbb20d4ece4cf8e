import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RedirectHookTests {
    private static func redirecting() -> StubTransport {
        StubTransport { request in
            request.index == 0 ? .status(302, headerFields: [.location: "/b"]) : .json("1")
        }
    }

    @Test(arguments: Surface.allCases)
    func theSessionsHookSeesTheRedirectAndTheProposal(surface: Surface) async throws {
        let calls = EventRecorder<String>()
        let client = try makeClient(Self.redirecting()) {
            $0.hooks.willRedirect = { context, redirect, request in
                calls.record(
                    "\(context.request.url.path) \(redirect.status.code) \(request.method) \(request.url.path)")
                return .follow(request)
            }
        }
        #expect(try await surface.send("a", method: .post, with: client).get().value == 1)
        #expect(calls.events == ["/api/a 302 GET /b"])
    }

    @Test func theRequestMayBeChanged() async throws {
        let transport = Self.redirecting()
        var hooks = TaskHooks()
        hooks.willRedirect = { _, _, request in
            var request = request
            request.headerFields[.accept] = "changed"
            return .follow(request)
        }
        _ = try await HTTPSession(transport: transport).call(makeRequest("a")).hooks(hooks).response()
        #expect(transport.requests[1].head.headerFields[.accept] == "changed")
    }

    @Test func anUnfollowedRedirectIsTheResponse() async throws {
        let transport = Self.redirecting()
        var hooks = TaskHooks()
        hooks.willRedirect = { _, _, _ in .doNotFollow }
        let serializer = DataResponseSerializer(validation: ResponseValidation(statusCodes: 302..<303))
        let response = try await HTTPSession(transport: transport).call(makeRequest("a")).hooks(hooks).response(
            serializer)
        #expect(response.status == .found)
        #expect(response.redirects.isEmpty)
        #expect(transport.requests.count == 1)
    }

    @Test func aHandlesOwnHookTakesThePlaceOfTheSessions() async throws {
        let calls = EventRecorder<String>()
        let client = try makeClient(Self.redirecting()) {
            $0.hooks.willRedirect = { _, _, request in
                calls.record("session")
                return .follow(request)
            }
        }
        let task = client.call(.get, "a").jsonTask()
        var hooks = TaskHooks()
        hooks.willRedirect = { context, _, request in
            calls.record("task \(context.taskID)")
            return .follow(request)
        }
        task.hooks = hooks
        task.resume()
        _ = try await task.value
        #expect(calls.events == ["task \(task.id)"])
    }

    @Test(arguments: Surface.allCases)
    func aHookThatThrowsFailsItsRequestAlone(surface: Surface) async throws {
        struct Oops: Error {}
        let client = try makeClient(
            StubTransport { $0.head.path == "/api/a" ? .status(302, headerFields: [.location: "/b"]) : .json("1") }
        ) {
            $0.hooks.willRedirect = { _, _, _ in throw Oops() }
        }
        let error = await surface.send("a", with: client).error
        #expect(error?.code == .hookFailed)
        #expect(error?.underlying is Oops)
        #expect(await surface.send("c", with: client).success?.value == 1)
    }

    @Test func thePolicyAppliesToAHooksRequestToo() async throws {
        let transport = StubTransport { _ in .status(302, headerFields: [.location: "https://example.com/b"]) }
        var hooks = TaskHooks()
        hooks.willRedirect = { _, _, request in
            var request = request
            request.url = try #require(URL(string: "http://example.com/b"))
            return .follow(request)
        }
        let url = try #require(URL(string: "https://example.com/a"))
        let error = await #expect(throws: SessionError.self) {
            try await HTTPSession(transport: transport).call(SessionRequest(url: url)).hooks(hooks).response()
        }
        #expect(error?.code == .redirectRefused)
    }
}
