import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
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
}
