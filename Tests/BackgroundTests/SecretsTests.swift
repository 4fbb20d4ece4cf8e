import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

/// Credentials on their way to servers.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct SecretsTests {
    @Test(arguments: ["Authorization", "Cookie", "X-Api-Key"])
    func aRedirectToAnotherOriginGetsNoStoredSecret(field: String) async throws {
        let name = try #require(HTTPField.Name(field))
        let data = bytes(2_000_000)
        try await withFileServer(["/file": data]) { files, other in
            files.change { $0.throttle = .init(bytes: 64 << 10, pause: .milliseconds(20)) }
            let target = try other.url("/file").absoluteString
            let origin = FileServer([:])
            let redirect = MockResponse(status: .found, headerFields: [.location: target])
            origin.change { $0.answers = [redirect, redirect] }
            try await withMockServer(handler: { origin.respond(to: $0) }) { server in
                try await withFolder { folder in
                    let file = folder.appending(path: "file")
                    try await withBackground(in: folder) { background in
                        let call = try background.get(server).header(name, "secret").header(.acceptLanguage, "en")
                        let task = try await background.download(call, to: file) { $0.storesSecrets = true }
                        // The request for the rest is redirected too.
                        try await background.progress(of: task.id, beyond: 300_000)
                        try await background.pause(task.id)
                        try await background.state(.paused, of: task.id)
                        files.change { $0.throttle = nil }
                        try await background.resume(task.id)
                        #expect(try await background.ended(task.id).state == .completed)
                    }
                    #expect(try Data(contentsOf: file) == data)
                }
            }
            #expect(origin.requests.map { $0.headerFields[name] } == ["secret", "secret"])
            #expect(files.requests.count == 2 && files.requests.last?.headerFields[.range] != nil)
            #expect(files.requests.allSatisfy { $0.headerFields[name] == nil })
            #expect(files.requests.allSatisfy { $0.headerFields[.acceptLanguage] == "en" })
        }
    }

    // MARK: Named credentials

    @Test(arguments: [1, 4])
    func aNamedCredentialIsLookedUpForEachAttempt(segments: Int) async throws {
        let data = bytes(4_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = .init(bytes: 64 << 10, pause: .milliseconds(20)) }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                let calls = Mutex(0)
                let lookUp: @Sendable (String, URL) -> HTTPFields = { name, url in
                    #expect(name == "mirror" && url.path == "/file")
                    let number = calls.withLock { count in
                        count += 1
                        return count
                    }
                    return [.authorization: "Bearer token-\(number)"]
                }
                try await withBackground(in: folder, { $0.credential = { lookUp($0, $1) } }) { background in
                    let task = try await background.download(background.get(server), to: file) {
                        $0.credential = "mirror"
                        $0.segments = segments
                    }
                    try await background.progress(of: task.id, beyond: 500_000)
                    try await background.pause(task.id)
                    try await background.state(.paused, of: task.id)
                    files.change { $0.throttle = nil }
                    try await background.resume(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                }
                #expect(try Data(contentsOf: file) == data)
                for name in names(in: sessionFolder(folder)) where name.hasPrefix("journal") {
                    // SQLite removes its log when the last connection is closed.
                    let stored = try? Data(contentsOf: sessionFolder(folder).appending(path: name))
                    #expect(stored != nil || name != "journal.sqlite")
                    #expect(stored?.firstRange(of: Data("token-".utf8)) == nil)
                }
                let sent = files.requests.map { $0.headerFields[.authorization] ?? "" }
                #expect(sent.allSatisfy { $0.hasPrefix("Bearer token-") })
                // A request for the first bytes, and two for each of three segments.
                #expect(Set(sent).count == (segments == 1 ? 2 : 7))
            }
        }
    }

    @Test func aTaskWaitsForItsCredential() async throws {
        struct Locked: Error {}
        try await withFileServer(["/file": bytes(10)]) { files, server in
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                for round in 1...2 {
                    try await withBackground(
                        in: folder, { if round == 2 { $0.credential = { _, _ in throw Locked() } } }
                    ) { background in
                        let events = background.events
                        if round == 1 {
                            try await background.download(background.get(server), to: file) { $0.credential = "a" }
                        }
                        for await event in events where event.kind == .changed {
                            if event.task?.attempts == round, event.task?.state == .waiting { break }
                        }
                        let task = try #require(try await background.tasks.first)
                        #expect(task.error?.code == .credentialUnavailable && task.nextAttempt != nil)
                    }
                }
                #expect(files.requests.isEmpty)
                // The next session has it, and does not wait for a minute.
                try await withBackground(in: folder, { $0.credential = { _, _ in [.authorization: "Bearer x"] } }) {
                    try await $0.drained()
                    #expect(try await $0.tasks.map(\.state) == [.completed])
                }
                #expect(files.requests.map { $0.headerFields[.authorization] } == ["Bearer x"])
            }
        }
    }

    @Test func fieldsThatRedirectsCarryAreNoCredentials() async throws {
        try await withFileServer(["/file": bytes(10)]) { files, server in
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder, { $0.credential = { _, _ in [.userAgent: "secret"] } }) {
                    background in
                    let task = try await background.download(background.get(server), to: file) { $0.credential = "a" }
                    #expect(try await background.ended(task.id).error?.code == .invalidRequest)
                    let error = try await failure {
                        try await background.download(background.get(server), to: file) { $0.credential = "" }
                    }
                    #expect(error.code == .invalidOptions)
                }
            }
            #expect(files.requests.isEmpty)
        }
    }
}
