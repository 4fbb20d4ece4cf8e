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
        try await withPage { session, model in
            model.perform(.refresh, on: nil)
            var hasPosts = false
            var hasPictures = false
            for try await event in session.get("/events").serverSentEvents() {
                #expect(event.type == "state")
                let state = try JSONDecoder().decode(JSONValue.self, from: Data(event.data.utf8))
                let posts = state["posts"]?.array ?? []
                hasPosts = posts.count == 20
                hasPictures = posts.allSatisfy { $0["avatar"]?.string != nil }
                if hasPosts && hasPictures {
                    let pins = state["texts"]?["pins"]?.string
                    #expect(pins?.contains("A pin of the policy matches") == true)
                    #expect(state["texts"]?["code-pins"]?.string == TimelineEffect.pins.code)
                    break
                }
            }
            #expect(hasPosts && hasPictures)
            let picture = try await session.get("/avatars/1000.png").response(.image)
            #expect(picture.value.width == 96)
        }
    }

    @Test func buttonsSendCommands() async throws {
        try await withPage { session, model in
            model.perform(.refresh, on: nil)
            let events = session.get("/events").serverSentEvents()
            var iterator = events.makeAsyncIterator()
            try await next(&iterator) { $0["posts"]?.array?.isEmpty == false }
            #expect(try await session.post("/commands/download?post=997").response().status == .noContent)
            try await next(&iterator) { state in
                let name = state["texts"]?["transfer-name"]?.string
                return name == "download: birds-997.bin" && state["flags"]?.array?.contains("transfer") == true
            }
            try await session.post("/commands/suspend").response()
            try await next(&iterator) { Self.figures($0)?.hasPrefix("suspended") == true }
            try await session.post("/commands/cancel").response()
            try await next(&iterator) { Self.figures($0)?.hasPrefix("cancelled") == true }
            let refused = try await #require(throws: SessionError.self) {
                try await session.post("/commands/quit").response()
            }
            #expect(refused.head?.status == .notFound)
        }
    }

    @Test func aDroppedFileIsUploaded() async throws {
        try await withPage { session, _ in
            var events = session.get("/events").serverSentEvents().makeAsyncIterator()
            try await session.post("/files?name=a%20%C3%A4%2F1.bin").body(.data(Data(count: 300_000))).response()
            try await next(&events) { state in
                state["texts"]?["message"]?.string?.hasPrefix("a ä/1.bin finished: status 201") == true
            }
            let unnamed = try await #require(throws: SessionError.self) {
                try await session.post("/files").body(.data(Data("text".utf8))).response()
            }
            #expect(unnamed.head?.status == .badRequest)
            let large = try await #require(throws: SessionError.self) {
                let body = Data(count: TimelinePage.maximumFileSize + 1)
                return try await session.post("/files?name=a").body(.data(body)).response()
            }
            #expect(large.head?.status == .contentTooLarge)
        }
    }

    private static func figures(_ state: JSONValue) -> String? { state["texts"]?["transfer-figures"]?.string }

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

    /// The script with the parts of a page that it uses.
    @Test(.enabled(if: hasNode, "node is not installed"))
    func theButtonsAreDisabledWhenTheAppHasEnded() async throws {
        let page = #"""
            const made = () => ({ disabled: false, hidden: false, children: [], dataset: {}, textContent: "",
                append(...all) { this.children.push(...all); }, replaceChildren(...all) { this.children = all; },
                addEventListener(name, body) { this.click = body; }, removeAttribute() {}, focus() {},
                querySelectorAll() { return [suspend, cancel]; }, querySelector() { return suspend; } });
            const places = {}, listeners = {}, sent = [];
            const [refresh, suspend, cancel, download] = [made(), made(), made(), made()];
            refresh.dataset.command = "refresh";
            let source;
            globalThis.document = {
                getElementById: id => places[id] ??= made(),
                createElement: name => name === "button" ? download : made(),
                querySelectorAll: what => what === "button" ? [refresh, suspend, cancel, download] : [refresh],
                addEventListener: (name, body) => listeners[name] = body,
            };
            globalThis.EventSource = class {
                constructor() { source = this; }
                addEventListener(name, body) { this.state = body; }
            };
            globalThis.fetch = path => { sent.push(path); return Promise.resolve(); };
            """#
        let use = #"""
            const state = (...flags) => ({ data: JSON.stringify({ flags, texts: { server: "s", "transfer-name": "n" },
                posts: [{ id: 1, name: "ada", text: "t", attachment: "a" }], requests: [] }) });
            const report = () => console.log([refresh, suspend, cancel, download].map(button => button.disabled ? "off" : "on").join(" "));
            source.state(state("transfer")); report();
            refresh.click(); listeners.keydown({ key: "c" });
            source.onerror(); report();
            refresh.click(); download.click(); listeners.keydown({ key: "c" });
            source.state(state()); report();
            refresh.click();
            listeners.drop({ preventDefault() {}, dataTransfer: { files: [{ name: "a b" }] } });
            console.log(sent.join(" "));
            """#
        let script = String(decoding: PackageResources.timeline_js, as: UTF8.self)
        let run = try await Command.run(["node", "-e", page + "\n" + script + "\n" + use])
        #expect(run.errors == "")
        #expect(
            run.text.split(separator: "\n") == [
                "on on on on", "off off off off", "on off off on",
                "/commands/refresh /commands/cancel /commands/refresh /files?name=a%20b",
            ])
    }

    private func next<Events: AsyncIteratorProtocol>(
        _ iterator: inout Events, where condition: (JSONValue) -> Bool
    ) async throws where Events.Element == ServerSentEvent {
        while let event = try await iterator.next(isolation: #isolation) {
            if condition(try JSONDecoder().decode(JSONValue.self, from: Data(event.data.utf8))) { return }
        }
        Issue.record("The stream ended.")
    }

    private func withPage(_ body: (HTTPSession, TimelineModel) async throws -> Void) async throws {
        try await withFolder { try await withPage(in: $0, body) }
    }

    private func withPage(in folder: URL, _ body: (HTTPSession, TimelineModel) async throws -> Void) async throws {
        let server = try await EmbeddedServer.start()
        let model = try await TimelineModel.make(for: server, in: folder)
        let page = TimelinePage(model)
        let pageServer = try await page.startServer()
        let session = try HTTPSession(baseURL: pageServer.url)
        let result: Result<Void, any Error>
        do {
            try await body(session, model)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await session.shutdown(.immediate)
        await model.end()
        await pageServer.shutdown()
        await server.shutdown()
        try result.get()
    }
}

private let hasCurl = (try? Command.run(["curl", "--version"]))?.status == 0
private let hasNode = (try? Command.run(["node", "--version"]))?.status == 0
