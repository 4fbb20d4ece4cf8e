import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetHAR
import LinnetJSON
import LinnetMessages
import LinnetMultipart
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization
import Testing

/// Which entry of a cassette answers a request.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct CassetteTests {
    private static let url = URL(string: "http://example.com/")

    /// An entry with a text as its content; a path without a method is for GET.
    private func entry(
        _ target: String, _ text: String, status: Int = 200, change: (inout HAR.Entry) -> Void = { _ in }
    ) -> HAR.Entry {
        let words = target.split(separator: " ")
        let url = "http://example.com" + (words.last ?? "")
        var response = HAR.Response(status: status)
        response.headers = [HAR.Pair("Content-Type", "text/plain")]
        response.content = HAR.Content(Data(text.utf8), mimeType: "text/plain")
        var entry = HAR.Entry(
            started: Date(timeIntervalSince1970: 1),
            request: HAR.Request(method: words.count > 1 ? String(words[0]) : "GET", url: url), response: response,
            timings: HAR.Timings())
        change(&entry)
        return entry
    }

    private func withCassette(
        _ entries: [HAR.Entry], _ matching: Cassette.Matching = .strict,
        session configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
        perform: (HTTPSession, Cassette) async throws -> Void
    ) async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("cassette.har"))
            try HAR(entries: entries).write(to: file)
            let cassette = try Cassette(.replay(file)) { $0.matching = matching }
            try await withSession(Self.url, cassette.transport(over: makeForbiddenTransport()), configure) {
                try await perform($0, cassette)
            }
        }
    }

    private func expect(
        _ call: HTTPCall, is text: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let data = try await call.data()
        #expect(String(decoding: data, as: UTF8.self) == text, sourceLocation: location)
    }

    /// The error of a replay that fails.
    private func failure(_ call: HTTPCall, _ location: SourceLocation = #_sourceLocation) async -> HARError? {
        let error = await #expect(throws: SessionError.self, sourceLocation: location) { try await call.data() }
        #expect(error?.code == .invalidRequest, sourceLocation: location)
        return error.flatMap { HARError(causeOf: $0) }
    }

    @Test func equalRequestsAreAnsweredInTheirOrderAndOnce() async throws {
        let entries = [entry("/a", "1"), entry("/b", "b"), entry("/a", "2")]
        try await withCassette(entries) { session, cassette in
            try await expect(session.get("a"), is: "1")
            try await expect(session.get("a"), is: "2")
            let error = await failure(session.get("a"))
            #expect(error?.code == .noMatchingEntry)
            #expect(error?.message.contains("it was used already") == true)
            #expect(cassette.unusedEntries.map(\.request.url) == ["http://example.com/b"])
            let unused = #expect(throws: HARError.self) { try cassette.finish() }
            #expect(unused?.code == .unusedEntries && unused?.message.contains("GET http://example.com/b") == true)
            try await expect(session.get("b"), is: "b")
            try cassette.finish()
        }
    }

    @Test func aLenientCassetteRepeatsTheLastAnswer() async throws {
        let entries = [entry("POST /a", "1"), entry("POST /a", "2"), entry("/b", "b")]
        try await withCassette(entries, .lenient) { session, cassette in
            for expected in ["1", "2", "2", "2"] {
                try await expect(session.post("a", ["n": expected]), is: expected)
            }
            try cassette.finish()
            #expect(cassette.unusedEntries.count == 1)
            #expect(await failure(session.get("a"))?.code == .noMatchingEntry)
        }
    }

    @Test func aSequentialCassetteKeepsTheOrder() async throws {
        var matching = Cassette.Matching.strict
        matching.isSequential = true
        try await withCassette([entry("/a", "a"), entry("/b", "b")], matching) { session, _ in
            let error = await failure(session.get("b"))
            #expect(error?.message.contains("it is not its turn") == true)
            try await expect(session.get("a"), is: "a")
            try await expect(session.get("b"), is: "b")
        }
    }

    @Test func theErrorNamesTheRequestAndTheNearestEntries() async throws {
        let entries = [entry("/users/1?page=1", ""), entry("/other", ""), entry("DELETE /users/1?page=2", "")]
        try await withCassette(entries) { session, _ in
            let error = await failure(session.get("users/1", ["page": 2, "token": "s3cr3t"]))
            let message = error?.message ?? ""
            #expect(message.contains("answers GET http://example.com/users/1?page=2&token=<redacted>"), "\(message)")
            #expect(message.contains("entries[0] GET http://example.com/users/1?page=1: its URL is another"))
            #expect(message.contains("entries[2] DELETE http://example.com/users/1?page=2: its method is another"))
            #expect(!message.contains("s3cr3t"))
        }
    }

    @Test func bodiesAndChosenFieldsAreCompared() async throws {
        let entries = [
            entry("POST /a", "json") {
                $0.request.headers = [HAR.Pair("Content-Type", "application/json")]
                $0.request.postData = HAR.PostData(Data(#"{"n":1}"#.utf8), mimeType: "application/json")
                $0.request.bodySize = 7
            }, entry("/a", "part") { $0.request.headers = [HAR.Pair("Range", "bytes=0-1")] },
        ]
        try await withCassette(entries) { session, _ in
            let error = await failure(session.post("a", json: ["n": 2]))
            #expect(error?.message.contains("its body is another") == true)
            try await expect(session.post("a", json: ["n": 1]), is: "json")
            let other = await failure(session.get("a").header(.range, "bytes=2-3"))
            #expect(other?.message.contains("its field Range is another") == true)
            try await expect(session.get("a").header(.range, "bytes=0-1"), is: "part")
        }
    }

    /// A failed send fails again, and is retried; a cancelled one is no answer.
    @Test func failuresAreReplayed() async throws {
        let failed = entry("/a", "") {
            $0.response = HAR.Response(status: 0)
            $0.response.custom["_error"] = "connectionClosed"
            $0.response.comment = "The server went away."
        }
        let cancelled = entry("/a", "") {
            $0.response = HAR.Response(status: 0)
            $0.response.custom["_error"] = "cancelled"
        }
        try await withCassette(
            [failed, cancelled, entry("/a", "a"), failed],
            session: {
                $0.retryPolicy = .limited(to: 1)
                $0.retryPolicy.backoff.first = .zero
            }
        ) { session, cassette in
            try await expect(session.get("a"), is: "a")
            let error = await #expect(throws: SessionError.self) { try await session.get("a").retry(.never).data() }
            #expect(error?.code == .connectionLost && error?.message == "The server went away.")
            try cassette.finish()
        }
    }

    @Test func bodiesThatWereNotRecordedAreRefused() async throws {
        let entries = [
            entry("/truncated", "half") { $0.response.content.custom["_truncated"] = true },
            entry("/missing", "") {
                $0.response.content.text = nil
                $0.response.content.size = 5
            }, entry("/redacted", "<redacted>"),
            entry("/unread", "half") { $0.response.content.custom["_unread"] = true },
            entry("/empty", "") { $0.response.content.text = nil },
        ]
        try await withCassette(entries) { session, _ in
            for path in ["truncated", "missing", "redacted", "unread"] {
                let error = await failure(session.get(path))
                #expect(error?.code == .bodyNotRecorded && error?.place?.hasPrefix("log.entries[") == true, "\(path)")
            }
            try await expect(session.get("empty"), is: "")
        }
    }

    @Test func aStreamHasWhatWasRecordedOfIt() async throws {
        let unread = entry("/unread", "half") { $0.response.content.custom["_unread"] = true }
        try await withCassette([unread]) { session, _ in
            var seen = Data()
            let response = try await session.get("unread").bytes()
            let error = await #expect(throws: SessionError.self) {
                for try await chunk in response.body { seen += chunk }
            }
            #expect(seen == Data("half".utf8))
            #expect(error.flatMap { HARError(causeOf: $0) }?.code == .bodyNotRecorded)
        }
    }

    /// A change of the complete entry, the code of the error, and its place.
    private static let damages: [(String, @Sendable (inout HAR.Entry) -> Void, HARError.Code, String)] = [
        ("method", { $0.request.method = "GE T" }, .invalidValue, "request.method"),
        ("URL", { $0.request.url = "/relative" }, .invalidValue, "request.url"),
        ("scheme", { $0.request.url = "file:///etc/passwd" }, .invalidValue, "request.url"),
        ("name", { $0.request.headers = [HAR.Pair("a b", "c")] }, .invalidValue, "request.headers[0].name"),
        ("value", { $0.response.headers = [HAR.Pair("a", "b\nc")] }, .invalidValue, "response.headers[0].value"),
        ("no status", { $0.response.status = 0 }, .invalidValue, "response.status"),
        ("1xx", { $0.response.status = 103 }, .invalidValue, "response.status"),
        ("error", { $0.response.custom["_error"] = "typo" }, .invalidValue, "response._error"),
        ("size", { $0.response.content.size = 7 }, .damagedBody, "response.content.size"),
        ("base64", { $0.response.content.encoding = "base64" }, .damagedBody, "response.content"),
        ("encoding", { $0.response.content.encoding = "rot13" }, .damagedBody, "response.content"),
        (
            "request size",
            {
                $0.request.postData = HAR.PostData(Data("ab".utf8), mimeType: "")
                $0.request.bodySize = 3
            }, .damagedBody, "request.bodySize"
        ),
        (
            "trailers", { $0.response.custom["_trailers"] = [["name": "a"]] }, .missingField,
            "response._trailers[0].value"
        ),
    ]

    @Test(arguments: damages.indices)
    func aCassetteThatWasDamagedByHandIsRefused(index: Int) async throws {
        let (name, change, code, place) = Self.damages[index]
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("cassette.har"))
            try HAR(entries: [entry("/a", "a"), entry("/a", "not base64!", change: change)]).write(to: file)
            let error = #expect(throws: HARError.self) { try Cassette(.replay(file)) }
            #expect(
                error?.code == code && error?.place == "log.entries[1]." + place,
                "\(name): \(String(describing: error))")
        }
    }

    @Test func whatIsNoCassetteIsRefused() async throws {
        try await Scratch.with { scratch in
            let missing = #expect(throws: HARError.self) {
                try Cassette(.replay(URL(filePath: scratch.file("none.har"))))
            }
            #expect(missing?.code == .unreadableFile)
            let cut = try scratch.write("cut.har", HAR(entries: [entry("/a", "a")]).data().dropLast(9))
            for mode in [Cassette.Mode.replay(URL(filePath: cut)), .recordIfMissing(URL(filePath: cut))] {
                let error = #expect(throws: HARError.self) { try Cassette(mode) }
                #expect(error?.code == .invalidJSON)
            }
            let large = #expect(throws: HARError.self) {
                try Cassette(.replay(URL(filePath: cut))) { $0.limits.maximumSize = 10 }
            }
            #expect(large?.code == .tooLarge)
        }
    }

    @Test func aRequestThatSwitchesProtocolsIsRefused() async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("cassette.har"))
            try HAR(entries: [entry("/a", "", status: 101)]).write(to: file)
            let cassette = try Cassette(.replay(file))
            let transport = cassette.transport(over: makeForbiddenTransport())
            let head = HTTPRequest(method: .get, scheme: "http", authority: "example.com", path: "/a")
            let request = TransportRequest(
                head: head, origin: nil, body: nil, timeouts: TransportTimeouts(), delivery: .streamed,
                upgrade: ProtocolUpgrade(to: "websocket") { channel, _ in channel })
            let error = await #expect(throws: TransportError.self) { try await transport.send(request, observer: nil) }
            #expect(error.flatMap { HARError(causeOf: $0) }?.code == .upgradeNotReplayable)
            // The entry is not one that a request has to use.
            try cassette.finish()
            await transport.shutdown(.graceful)
            let late = await #expect(throws: TransportError.self) { try await transport.send(request, observer: nil) }
            #expect(late?.code == .shutDown)
        }
    }

    @Test func aMissingFileIsRecordedOnce() async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("cassette.har"))
            let count = Mutex(0)
            try await withServer { _ in
                count.withLock { $0 += 1 }
                return .text("hello")
            } perform: { server in
                for isReplaying in [false, true, true] {
                    let cassette = try Cassette(.recordIfMissing(file))
                    #expect(cassette.isReplaying == isReplaying)
                    let transport = cassette.transport(
                        over: isReplaying ? makeForbiddenTransport() : try makeTransport())
                    try await withSession(server.url, transport) { try await expect($0.get("a"), is: "hello") }
                    try cassette.finish()
                }
            }
            #expect(count.withLock { $0 } == 1)
        }
    }

    /// Forms and multipart bodies match without their secrets and boundaries, a long upload by its digest alone.
    @Test func secretsAndBoundariesDoNotMatter() async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("cassette.har"))
            let long = Data(repeating: 7, count: 3 << 20)
            func send(_ session: HTTPSession, secret: String) async throws {
                session.setHeader(.authorization, "Bearer \(secret)")
                _ = try await session.post("form", ["user": "ada", "password": secret]).data()
                var form = MultipartForm()
                form.append(Data("a".utf8), name: "b")
                _ = try await session.post("multipart", form: form).data()
                _ = try await session.put("long", ["token": secret]).body(.data(long)).data()
                let chunks = AsyncStream { continuation in
                    for _ in 0..<10 { continuation.yield(Data("chunk".utf8)) }
                    continuation.finish()
                }
                _ = try await session.put("chunks").body(.chunks(chunks, length: nil)).data()
            }
            try await withServer { _ in
                .text("ok")
            } perform: { server in
                let recording = try Cassette(.record(file)) { $0.maximumBodySize = 1 << 20 }
                try await withSession(server.url, recording.transport(over: try makeTransport())) {
                    try await send($0, secret: "s3cr3t")
                }
                try recording.finish()
                #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("s3cr3t"))
                let replay = try Cassette(.replay(file))
                try await withSession(server.url, replay.transport(over: makeForbiddenTransport())) {
                    try await send($0, secret: "other")
                }
                try replay.finish()
            }
        }
    }
}
