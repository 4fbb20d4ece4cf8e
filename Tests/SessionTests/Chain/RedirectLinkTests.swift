import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite(.timeLimit(.minutes(1)))
struct RedirectLinkTests {
    private func link(_ policy: RedirectPolicy = .follow, hsts: HSTSStore? = nil) -> RedirectLink {
        RedirectLink(policy: policy, hstsStore: hsts, transport: StubTransport(), secrets: [.authorization, .cookie])
    }

    private func redirect(
        _ status: HTTPResponse.Status = .found, to target: String, at url: String = "http://a.test/a"
    ) throws -> StreamedResponse {
        try .test(status, [.location: target], at: url)
    }

    @Test func aRedirectIsFollowedAndRemembered() throws {
        let link = link()
        var flight = try Flight.test()
        #expect(link.send(&flight).proceeds)
        var response = try redirect(to: "/b")
        #expect(try link.receive(&response, &flight).request?.url.absoluteString == "http://a.test/b")
        #expect(link.sendAgain(&flight).proceeds)
        var last = try StreamedResponse.test(at: "http://a.test/b")
        #expect(try link.receive(&last, &flight).proceeds)
        #expect(last.redirects.map(\.target.absoluteString) == ["http://a.test/b"])
        // The next attempt has a history of its own.
        #expect(link.send(&flight).proceeds && flight.redirects == nil)
    }

    @Test func aFailureTellsOfTheRedirectsBeforeIt() throws {
        let link = link()
        var flight = try Flight.test()
        var response = try redirect(to: "/b")
        #expect(try link.receive(&response, &flight).repeats && link.sendAgain(&flight).proceeds)
        var failure = SessionError(.connectionLost, "Gone.", url: nil)
        #expect(link.receive(&failure, &flight).proceeds && failure.redirects.count == 1)
    }

    @Test func secretsStayAtTheirOrigin() throws {
        for (target, isKept) in [("http://a.test/b", true), ("http://b.test/", false), ("https://a.test/", false)] {
            var flight = try Flight.test("http://a.test/a", .get, [.authorization: "a", .accept: "b"])
            var response = try redirect(to: target)
            let fields = try link().receive(&response, &flight).request?.headerFields
            #expect(fields?.contains(.authorization) == isKept && fields?.contains(.accept) == true)
        }
    }

    @Test func theMethodChangesWithTheStatus() throws {
        for (status, method, changed) in [
            (HTTPResponse.Status.found, HTTPRequest.Method.post, HTTPRequest.Method.get), (.seeOther, .put, .get),
            (.temporaryRedirect, .post, .post), (.found, .put, .put),
        ] {
            var flight = try Flight.test("http://a.test/a", method, body: .data(Data("a".utf8)))
            var response = try redirect(status, to: "/b")
            let request = try link().receive(&response, &flight).request
            #expect(request?.method == changed && (request?.body == nil) == (changed == .get))
        }
    }

    @Test func thereIsALimit() throws {
        let link = link(.follow(limit: 1))
        var flight = try Flight.test()
        var response = try redirect(to: "/b")
        #expect(try link.receive(&response, &flight).repeats && link.sendAgain(&flight).proceeds)
        let error = #expect(throws: SessionError.self) { try link.receive(&response, &flight) }
        #expect(error?.code == .tooManyRedirects && error?.redirects.count == 1)
    }

    @Test func aRedirectFromHTTPSToHTTPIsRefusedUnlessTheHostIsKnown() throws {
        let store = HSTSStore()
        var flight = try Flight.test("https://a.test/a")
        var response = try redirect(to: "http://b.test/", at: "https://a.test/a")
        #expect(throws: SessionError.self) { try link().receive(&response, &flight) }
        let known = try #require(URL(string: "https://b.test/"))
        store.store(strictTransportSecurity: ["max-age=1000"], of: known)
        #expect(try link(hsts: store).receive(&response, &flight).request?.url == known)
    }

    @Test func anotherOriginIsRefusedByAPolicyThatStays() throws {
        var flight = try Flight.test()
        var response = try redirect(to: "http://b.test/")
        let error = #expect(throws: SessionError.self) { try link(.sameOrigin()).receive(&response, &flight) }
        #expect(error?.code == .redirectRefused)
    }

    @Test func withoutAPolicyTheRedirectIsTheResponse() throws {
        var flight = try Flight.test()
        var response = try redirect(to: "/b")
        #expect(try link(.doNotFollow).receive(&response, &flight).proceeds)
    }

    @Test func aHookDecides() throws {
        let hooks = TaskHooks { $0.willRedirect = { _, _, request in .follow(request) } }
        var flight = try Flight.test("http://a.test/a", .get, [.authorization: "a"])
        flight.hooks = RequestHooks(
            TaskHooks.Context(taskID: 1, kind: .data, request: flight.request), tables: [hooks], executor: .serial())
        let link = link(.doNotFollow)
        var response = try redirect(to: "/b")
        guard case .redirect(let redirect, let proposal)? = try link.receive(&response, &flight).question else {
            throw Unexpected()
        }
        #expect(redirect.target.absoluteString == "http://a.test/b" && proposal.url == redirect.target)
        flight.answer = .redirect(nil)
        #expect(try link.receive(&response, &flight).proceeds)
        flight.answer = .redirect(.doNotFollow)
        #expect(try link.receive(&response, &flight).proceeds)
        // A hook that only changes the URL does not send the credentials elsewhere.
        var changed = proposal
        changed.url = try #require(URL(string: "http://b.test/"))
        flight.answer = .redirect(.follow(changed))
        let request = try link.receive(&response, &flight).request
        #expect(request?.url == changed.url && request?.headerFields.contains(.authorization) == false)
    }
}
