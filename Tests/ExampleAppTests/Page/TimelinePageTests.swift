import CommandSupport
import FoundationEssentials
import Linnet
import LinnetImageSerialization
import LinnetTesting
import Testing

@testable import ExampleApp

/// The web page over HTTP.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
@MainActor
struct TimelinePageTests {
    @Test func thePageAndItsFilesAreServedAndRestricted() async throws {
        try await withPage { session, _ in
            let page = try await session.get("/").response()
            #expect(page.head.headerFields[.contentType] == "text/html; charset=utf-8")
            #expect(page.head.headerFields[.contentSecurityPolicy] == "default-src 'self'; frame-ancestors 'none'")
            let html = String(decoding: page.data, as: UTF8.self)
            #expect(!html.contains("http:") && !html.contains("https:"), "The page needs no other server.")
            #expect(try await session.get("/timeline.css").response().status == .ok)
            #expect(try await session.get("/timeline.js").response().status == .ok)
            let missing = try await #require(throws: SessionError.self) { try await session.get("/other").response() }
            #expect(missing.head?.status == .notFound)
        }
    }

    @Test func thePageFollowsTheStateOfTheProcess() async throws {
        try await withPage { session, program in
            program.send(.started)
            var hasPosts = false
            var hasPictures = false
            for try await event in session.get("/events").serverSentEvents() {
                #expect(event.type == "state")
                let state = try JSONDecoder().decode(JSONValue.self, from: Data(event.data.utf8))
                hasPosts = (state["posts"]?.array?.count ?? 0) == 20
                hasPictures = state["live"]?["pictureCount"]?.int == SamplePosts.names.count
                if hasPosts && hasPictures {
                    #expect(state["facts"]?["isPinned"]?.bool == true)
                    break
                }
            }
            #expect(hasPosts && hasPictures)
            let picture = try await session.get("/avatars/1.png").response(.image)
            #expect(picture.value.width == 96)
        }
    }

    @Test func buttonsSendCommands() async throws {
        try await withPage { session, program in
            program.send(.started)
            let events = session.get("/events").serverSentEvents()
            var iterator = events.makeAsyncIterator()
            try await next(&iterator) { $0["posts"]?.array?.isEmpty == false }
            #expect(try await session.post("/commands/download?post=1000").response().status == .noContent)
            try await next(&iterator) { $0["live"]?["transfer"]?["phase"]?.string == "running" }
            try await session.post("/commands/suspend").response()
            try await next(&iterator) { $0["live"]?["transfer"]?["phase"]?.string == "suspended" }
            try await session.post("/commands/cancel").response()
            try await next(&iterator) { $0["live"]?["transfer"]?["phase"]?.string == "cancelled" }
            let refused = try await #require(throws: SessionError.self) {
                try await session.post("/commands/quit").response()
            }
            #expect(refused.head?.status == .notFound)
        }
    }

    @Test func otherSitesAreRefused() async throws {
        try await withPage { session, _ in
            let name = try #require(HTTPField.Name("Origin"))
            let refused = try await #require(throws: SessionError.self) {
                try await session.post("/commands/refresh").header(name, "https://attacker.example").response()
            }
            #expect(refused.head?.status == .forbidden)
        }
    }

    @Test(.enabled(if: hasCurl, "curl is not installed"))
    func otherNamesOfThisMachineAreRefused() async throws {
        try await withPage { session, _ in
            let url = try #require(session.baseURL).absoluteString
            for (host, status) in [("attacker.example", "403"), ("localhost", "200")] {
                let run = try await Command.run([
                    "curl", "-s", "-H", "Host: \(host)", "-w", "%{http_code}", "-o", "/dev/null", url,
                ])
                #expect(run.text == status)
            }
        }
    }

    private func next<Events: AsyncIteratorProtocol>(
        _ iterator: inout Events, where condition: (JSONValue) -> Bool
    ) async throws where Events.Element == ServerSentEvent {
        while let event = try await iterator.next(isolation: #isolation) {
            if condition(try JSONDecoder().decode(JSONValue.self, from: Data(event.data.utf8))) { return }
        }
        Issue.record("The stream ended.")
    }

    private func withPage(_ body: (HTTPSession, TimelineProgram) async throws -> Void) async throws {
        let server = try await EmbeddedServer.start()
        let client = try TimelineClient(
            baseURL: server.url, policy: server.policy(for: TimelinePlan(arguments: [])))
        let program = TimelineProgram(
            client: client, server: server.url, pageSize: 20, network: .fixed(.unknown),
            size: TerminalSize(width: 80, height: 24))
        let page = TimelinePage(program)
        let pageServer = try await page.startServer()
        let session = try HTTPSession(baseURL: pageServer.url)
        let result: Result<Void, any Error>
        do {
            try await body(session, program)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await session.shutdown(.immediate)
        page.end()
        await pageServer.shutdown()
        await program.end()
        await server.shutdown()
        try result.get()
    }
}

private let hasCurl = (try? Command.run(["curl", "--version"]))?.status == 0
