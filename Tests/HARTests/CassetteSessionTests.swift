import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetAuthentication
import LinnetCompression
import LinnetCookies
import LinnetHAR
import LinnetMessages
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// A session of fifty exchanges, recorded once and replayed without a network.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct CassetteSessionTests {
    /// A server with redirects, cookies, codings, failures that pass, and challenges.
    private final class Service: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func respond(to request: RecordedRequest) -> MockResponse {
            let count = counts.withLock { counts in
                counts[request.path, default: 0] += 1
                return counts[request.path] ?? 0
            }
            switch request.path.split(separator: "/").first {
            case "redirect": return .redirect(to: "/item/\(count)?code=\(UInt64.random(in: 1 << 40 ... .max))")
            case "login":
                var response = MockResponse.text("welcome")
                response.headerFields[.setCookie] = "session=\(UInt64.random(in: 1 << 40 ... .max)); Path=/"
                return response
            case "private":
                return request.headerFields[.cookie] == nil
                    ? .text("who?", status: .forbidden) : .text("private \(count)")
            case "flaky": return count % 2 == 1 ? .text("wait", status: .serviceUnavailable) : .text("flaky \(count)")
            case "broken":
                // The transport repeats the first one on a new connection, and the session the second one.
                guard count % 3 == 0 else { return MockResponse.status(.ok).with(.init(.close, at: .responseHead)) }
                return .text("mended")
            case "basic":
                guard request.headerFields[.authorization] == nil else { return .text("basic \(count)") }
                return MockResponse(
                    status: .unauthorized, headerFields: [.wwwAuthenticate: #"Basic realm="birds""#],
                    body: .text("no"))
            case "gzip":
                let text = String(repeating: "gzip \(count) ", count: 100)
                let coded = (try? ContentCoding.gzip.encoded(Data(text.utf8))) ?? Data()
                return MockResponse(headerFields: [.contentEncoding: "gzip"], body: .bytes(coded))
            case "stream":
                return MockResponse(
                    body: .chunks((0..<20).map { Data("line \($0)\n".utf8) }), trailers: [.acceptRanges: "none"])
            case "binary": return MockResponse(body: .bytes(Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })))
            default: return .text("\(request.method) \(request.target.prefix { $0 != "=" }) \(request.bodyText.count)")
            }
        }
    }

    /// What the program sees, without what is random.
    private func run(_ session: HTTPSession) async throws -> [String] {
        var seen: [String] = []
        func note(_ call: HTTPCall) async throws {
            let response = try await call.bytes(validation: .none)
            var body = Data()
            for try await chunk in response.body { body += chunk }
            let type = response.head.headerFields[.contentType] ?? "-"
            seen.append(
                "\(response.status.code) \(type) \(body.base64EncodedString()) \(response.trailers?.count ?? 0)")
        }
        try await note(session.get("private"))
        try await note(session.post("login", ["user": "ada", "password": "s3cr3t"]))
        for index in 0..<5 {
            try await note(session.get("private"))
            try await note(session.get("redirect"))
            try await note(session.get("flaky/\(index)"))
            try await note(session.get("gzip"))
            try await note(session.get("stream"))
            try await note(session.put("item", json: ["index": index]))
        }
        for _ in 0..<3 {
            try await note(session.get("basic"))
            try await note(session.get("broken"))
            for try await line in session.get("stream").lines() { seen.append(line) }
            seen.append("\(try await session.get("binary").data().count)")
        }
        try await note(session.head("item"))
        return seen
    }

    @Test(arguments: Version.allCases)
    func fiftyExchangesAreReplayedWithoutANetwork(version: Version) async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("session.har"))
            var url: URL?
            func configure(_ it: inout HTTPSession.Configuration) throws {
                it.cookieJar = CookieJar()
                let store = CredentialStore()
                let space = ProtectionSpace(origin: try #require(Origin(url?.absoluteString ?? "")), realm: "birds")
                store.set(try .basic(username: "ada", password: "s3cr3t"), for: space)
                it.credentialStore = store
                it.retryPolicy = .limited(to: 2)
                it.retryPolicy.backoff.first = .zero
            }
            let recording = try Cassette(.record(file))
            let service = Service()
            var first: [String] = []
            try await withServer(version, { service.respond(to: $0) }) { server in
                url = server.url
                let transport = recording.transport(over: try makeTransport(version))
                first = try await withSession(server.url, transport, configure) { try await run($0) }
            }
            try recording.finish()
            let har = try HAR(contentsOf: file)
            #expect(har.entries.count >= 50)
            #expect(Set(har.entries.map(\.response.status)).isSuperset(of: [0, 200, 302, 401, 403, 503]))
            #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("s3cr3t"))
            // The server is gone.
            let replay = try Cassette(.replay(file))
            let transport = replay.transport(over: makeForbiddenTransport())
            let second = try await withSession(url, transport, configure) { try await run($0) }
            #expect(second == first)
            try replay.finish()
        }
    }

    @Test func requestsAtTheSameTimeAreReplayed() async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("session.har"))
            func run(_ session: HTTPSession) async throws -> Set<String> {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for index in 0..<20 {
                        group.addTask { String(decoding: try await session.get("item/\(index)").data(), as: UTF8.self) }
                    }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
            }
            let recording = try Cassette(.record(file))
            var (url, first) = (URL?.none, Set<String>())
            try await withServer(.http1, { .text($0.path) }) { server in
                url = server.url
                first = try await withSession(url, recording.transport(over: try makeTransport()), perform: run)
            }
            try recording.finish()
            let replay = try Cassette(.replay(file))
            let second = try await withSession(url, replay.transport(over: makeForbiddenTransport()), perform: run)
            #expect(second == first && first.count == 20)
            try replay.finish()
        }
    }
}
