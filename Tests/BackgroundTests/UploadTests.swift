import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

/// Uploads of files.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct UploadTests {
    @Test func theFileIsSentAndTheResponseIsKept() async throws {
        let data = bytes(1_000_000)
        try await withFileServer([:]) { files, server in
            files.change { $0.answers = [.text("thanks", status: .created)] }
            try await withFolder { folder in
                let file = folder.appending(path: "photo.png")
                try data.write(to: file)
                let id = try await withBackground(in: folder) { background in
                    let call = try background.session.post(server.url("/photos").absoluteString)
                    let task = try await background.upload(call, fromFile: file) { $0.tag = "holiday" }
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed, "\(String(describing: ended.error))")
                    #expect(ended.progress.completed == 1_000_000)
                    return task.id
                }
                try await withBackground(in: folder) { background in
                    let task = try #require(try await background.task(id))
                    #expect(task.status == .created && task.responseBody == Data("thanks".utf8))
                    #expect(task.kind == .upload && task.tag == "holiday" && task.method == .post)
                }
                let request = try #require(files.requests.first)
                #expect(request.body == data)
                #expect(request.headerFields[.contentType] == "image/png")
            }
        }
    }

    @Test func aFileThatChangedIsNotSent() async throws {
        try await withFileServer([:]) { files, server in
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try bytes(100).write(to: file)
                try await withBackground(in: folder) { background in
                    let call = try background.session.put(server.url("/a").absoluteString)
                    files.change {
                        $0.answers = [MockResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "1000"])]
                    }
                    let events = background.events
                    let task = try await background.upload(call, fromFile: file)
                    for await event in events where event.task?.nextAttempt != nil { break }
                    try bytes(100, seed: 2).write(to: file, options: .atomic)
                    try await background.retry(task.id)
                    let ended = try await background.ended(task.id)
                    #expect(ended.error?.code == .sourceChanged)
                }
                #expect(files.requests.count == 1)
            }
        }
    }

    /// The key is stored with the request, so that the server performs it once.
    @Test(arguments: [true, false])
    func aPostIsSentAgainIfItHasAnIdempotencyKey(_ hasKey: Bool) async throws {
        try await withFileServer([:]) { files, server in
            files.change { $0.answers = [.status(.serviceUnavailable), .status(.created)] }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try bytes(100).write(to: file)
                try await withBackground(in: folder) { background in
                    let call = try background.session.post(server.url("/orders").absoluteString)
                        .options { $0.sendsIdempotencyKey = hasKey }
                    let task = try await background.upload(call, fromFile: file)
                    #expect(try await background.ended(task.id).state == (hasKey ? .completed : .failed))
                }
                let name = try #require(HTTPField.Name("Idempotency-Key"))
                let keys = files.requests.map { $0.headerFields[name] }
                #expect(keys.count == (hasKey ? 2 : 1) && Set(keys).count == 1 && (keys[0] != nil) == hasKey)
            }
        }
    }

    @Test func anUploadWithABodyIsRefused() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "file")
            try bytes(10).write(to: file)
            try await withBackground(in: folder) { background in
                let call = background.session.post("http://127.0.0.1:9/a", ["a": 1])
                let error = try await failure { try await background.upload(call, fromFile: file) }
                #expect(error.code == .invalidRequest)
            }
        }
    }
}
