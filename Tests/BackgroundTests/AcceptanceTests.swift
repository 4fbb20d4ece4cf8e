import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

/// Calls that are stored, and calls that are refused.
@Suite(.timeLimit(.minutes(2)))
struct AcceptanceTests {
    @Test(arguments: [HTTPField.Name.authorization, .cookie, .proxyAuthorization])
    func credentialsAreRefused(_ name: HTTPField.Name) async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { background in
                let call = background.session.get("http://127.0.0.1:9/a").header(name, "secret")
                let error = try await failure {
                    try await background.download(call, to: folder.appending(path: "file"))
                }
                #expect(error.code == .credentialRefused)
                #expect(error.message.contains(name.rawName) && !error.message.contains("secret"))
                let url = background.session.get("http://ada:secret@127.0.0.1:9/a")
                #expect(
                    try await failure { try await background.download(url, to: folder.appending(path: "file")) }.code
                        == .credentialRefused)
                #expect(try await background.tasks.isEmpty)
            }
        }
    }

    @Test func credentialsAreStoredOnRequest() async throws {
        try await withFileServer(["/file": bytes(10)]) { files, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let call = try background.get(server).header(.authorization, "Bearer x")
                    let task = try await background.download(call, to: folder.appending(path: "file")) {
                        $0.storesSecrets = true
                    }
                    #expect(try await background.ended(task.id).state == .completed)
                    #expect(files.requests.first?.headerFields[.authorization] == "Bearer x")
                }
            }
        }
    }

    @Test func credentialsOfTheSessionAreAddedAndNotStored() async throws {
        try await withFileServer(["/file": bytes(10)]) { files, server in
            try await withFolder { folder in
                let session = try HTTPSession(baseURL: server.url("/")) {
                    $0.headerFields = [.authorization: "Bearer hidden-token"]
                }
                try await withBackground(in: folder, { $0.session = session }) { background in
                    let task = try await background.download(session.get("file"), to: folder.appending(path: "file"))
                    #expect(try await background.ended(task.id).state == .completed)
                    #expect(files.requests.first?.headerFields[.authorization] == "Bearer hidden-token")
                }
                for name in names(in: sessionFolder(folder)) where name.hasPrefix("journal") {
                    let stored = try Data(contentsOf: sessionFolder(folder).appending(path: name))
                    #expect(stored.firstRange(of: Data("hidden-token".utf8)) == nil)
                }
                try await withBackground(in: folder) { background in
                    let error = try await failure {
                        try await background.download(session.get("file"), to: folder.appending(path: "file"))
                    }
                    #expect(error.code == .credentialRefused)
                }
                await session.shutdown()
            }
        }
    }

    @Test func destinationsAreChecked() async throws {
        try await withFolder { folder in
            try await withBackground(in: folder, { $0.maximumActive = 1 }) { background in
                let call = background.session.get("http://127.0.0.1:9/a")
                for destination in [
                    folder, URL(filePath: "/"), folder.appending(path: ".."), URL(string: "http://a/b"),
                ] {
                    let error = try await failure {
                        try await background.download(call, to: try #require(destination))
                    }
                    #expect(error.code == .invalidDestination, "\(String(describing: destination))")
                }
                let file = folder.appending(path: "file")
                let first = try await background.download(call, to: file) { $0.earliestBeginDate = .distantFuture }
                let error = try await failure { try await background.download(call, to: file) }
                #expect(error.code == .destinationTaken)
                try await background.cancel(first.id)
                let second = try await background.download(call, to: file) { $0.earliestBeginDate = .distantFuture }
                #expect(try await failure { try await background.retry(first.id) }.code == .destinationTaken)
                #expect(second.id > first.id)
                try Data("x".utf8).write(to: folder.appending(path: "there"))
                let taken = try await failure {
                    try await background.download(call, to: folder.appending(path: "there")) { $0.replacesFile = false }
                }
                #expect(taken.code == .invalidDestination)
            }
        }
    }

    @Test func optionsAndRequestsAreChecked() async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { background in
                let file = folder.appending(path: "file")
                let call = background.session.get("http://127.0.0.1:9/a")
                for digest in ["", "12", String(repeating: "x", count: 64)] {
                    let error = try await failure {
                        try await background.download(call, to: file) { $0.sha256 = digest }
                    }
                    #expect(error.code == .invalidOptions)
                }
                let size = try await failure { try await background.download(call, to: file) { $0.expectedSize = -1 } }
                #expect(size.code == .invalidOptions)
                let bad = try await failure {
                    try await background.download(background.session.get("ftp://a/b"), to: file)
                }
                #expect(bad.code == .invalidRequest && bad.sessionCode == .invalidURL)
                let large = background.session.post("http://127.0.0.1:9/a").body(.data(Data(count: 2 << 20)))
                #expect(try await failure { try await background.download(large, to: file) }.code == .invalidRequest)
                let gone = try await failure { try await background.upload(call, fromFile: file) }
                #expect(gone.code == .sourceChanged)
                let id = try #require(BackgroundTask.ID("99"))
                #expect(try await failure { try await background.pause(id) }.code == .noSuchTask)
                #expect(try await failure { _ = try await background.ended(id) }.code == .noSuchTask)
            }
        }
    }

    @Test(arguments: ["", ".", "..", ".a", "a/b", "a\\b", "a\nb", String(repeating: "a", count: 256)])
    func identifiersAreNamesOfDirectories(_ identifier: String) async throws {
        let error = try await failure { _ = try await BackgroundSession(identifier) }
        #expect(error.code == .invalidIdentifier)
    }

    @Test func aShutDownSessionRefusesCalls() async throws {
        try await withFolder { folder in
            let background = try await BackgroundSession("test", directory: sessionFolder(folder))
            await background.shutdown()
            await background.shutdown()
            let call = background.session.get("http://127.0.0.1:9/a")
            let error = try await failure { try await background.download(call, to: folder.appending(path: "file")) }
            #expect(error.code == .shutDown)
            #expect(try await failure { _ = try await background.tasks }.code == .shutDown)
        }
    }
}
