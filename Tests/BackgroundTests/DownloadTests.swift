import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

/// Downloads of one process.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct DownloadTests {
    @Test(arguments: [0, 1, 3_000_000])
    func theFileIsComplete(size: Int) async throws {
        let data = bytes(size)
        try await withFileServer(["/file": data]) { _, server in
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file)
                    #expect(task.state == .waiting && task.file.path == file.path)
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed, "\(String(describing: ended.error))")
                    #expect(ended.progress.completed == Int64(size) && ended.progress.isFinished)
                    #expect(ended.status == .ok && ended.attempts == 1)
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(names(in: folder) == ["file", "session"])
                #expect(names(in: folder.appending(path: "session/parts")).isEmpty)
            }
        }
    }

    @Test func theRequestIsSentAsTheCallMadeIt() async throws {
        try await withFileServer(["/file": bytes(10)]) { files, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let call = try background.get(server, "/file?b=%2F&a=1").header(.accept, "text/csv")
                    let task = try await background.download(call, to: folder.appending(path: "a b\nc"))
                    #expect(try await background.ended(task.id).state == .completed)
                }
                #expect(try Data(contentsOf: folder.appending(path: "a b\nc")) == bytes(10))
                let request = try #require(files.requests.first)
                #expect(request.target == "/file?b=%2F&a=1")
                #expect(request.headerFields[.accept] == "text/csv")
                #expect(request.headerFields[values: .acceptEncoding] == ["identity"])
            }
        }
    }

    @Test func aDigestAndASizeAreChecked() async throws {
        let data = bytes(100_000)
        try await withFileServer(["/file": data]) { _, server in
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try Data("old".utf8).write(to: file)
                try await withBackground(in: folder) { background in
                    let wrong = try await background.download(background.get(server), to: file) {
                        $0.sha256 = String(repeating: "ab", count: 32)
                    }
                    #expect(try await background.ended(wrong.id).error?.code == .digestMismatch)
                    for size in [99_999, 100_001] {
                        let task = try await background.download(background.get(server), to: file) {
                            $0.expectedSize = Int64(size)
                        }
                        #expect(try await background.ended(task.id).error?.code == .sizeMismatch)
                    }
                    #expect(try Data(contentsOf: file) == Data("old".utf8))
                    let right = try await background.download(background.get(server), to: file) {
                        $0.sha256 = digest100000.uppercased()
                        $0.expectedSize = 100_000
                    }
                    #expect(try await background.ended(right.id).state == .completed)
                    for task in try await background.tasks { try await background.remove(task.id) }
                    #expect(try await background.tasks.isEmpty)
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(names(in: folder) == ["file", "session"])
            }
        }
    }

    @Test(arguments: [true, false])
    func theDigestOfTheServerIsChecked(isRight: Bool) async throws {
        try await withFileServer(["/file": bytes(100_000)]) { files, server in
            let name = try #require(HTTPField.Name("Repr-Digest"))
            let digest = isRight ? base64Digest100000 : Data(repeating: 7, count: 32).base64EncodedString()
            files.change { $0.fields[name] = "sha-512=:AAAA:, sha-256=:\(digest):" }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let file = folder.appending(path: "file")
                    let task = try await background.download(background.get(server), to: file)
                    let ended = try await background.ended(task.id)
                    #expect(ended.error?.code == (isRight ? nil : .digestMismatch))
                    #expect(FileManager.default.fileExists(atPath: file.path) == isRight)
                }
            }
        }
    }

    @Test func aLostConnectionContinuesWithThePart() async throws {
        let data = bytes(2_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.fault = (.reset, 300_000, 5) }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder, { $0.retryPolicy.limit = 1 }) { background in
                    let task = try await background.download(background.get(server), to: file) {
                        $0.expectedSize = Int64(data.count)
                    }
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed, "\(String(describing: ended.error))")
                    #expect(ended.attempts > 2)
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(files.requests.dropFirst().allSatisfy { $0.headerFields[.range] != nil })
                #expect(names(in: folder) == ["file", "session"])
            }
        }
    }

    @Test(arguments: ["W/\"2\"", "\"2\"", nil])
    func aFileThatChangesIsNotMixed(tag: String?) async throws {
        let (old, new) = (bytes(2_000_000, seed: 1), bytes(2_000_000, seed: 2))
        try await withFileServer(["/file": old]) { files, server in
            files.change { $0.fault = (.reset, 900_000, 1) }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file)
                    try await background.progress(of: task.id)
                    files.change {
                        $0.files = ["/file": new]
                        $0.entityTag = tag
                    }
                    #expect(try await background.ended(task.id).state == .completed)
                }
                let result = try Data(contentsOf: file)
                #expect(result == new || (result == old && files.requests.count == 1))
            }
        }
    }

    @Test func statusesFailOrAreRepeated() async throws {
        try await withFileServer(["/file": bytes(10)]) { files, server in
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let missing = try await background.download(background.get(server, "/none"), to: file)
                    let failed = try await background.ended(missing.id)
                    #expect(failed.error?.sessionCode == .unacceptableStatus && failed.attempts == 1)
                    files.change { $0.answers = [.status(.serviceUnavailable), .status(.tooManyRequests)] }
                    let busy = try await background.download(background.get(server), to: file)
                    let ended = try await background.ended(busy.id)
                    #expect(ended.state == .completed && ended.attempts == 3)
                }
            }
        }
    }

    @Test func retryAfterIsStored() async throws {
        try await withFileServer(["/file": bytes(10)]) { files, server in
            files.change {
                $0.answers = [MockResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "1000"])]
            }
            try await withFolder { folder in
                let id = try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: folder.appending(path: "file"))
                    for await event in background.events where event.task?.nextAttempt != nil { break }
                    return task.id
                }
                try await withBackground(in: folder) { background in
                    let task = try #require(try await background.task(id))
                    let wait = try #require(task.nextAttempt).timeIntervalSinceNow
                    #expect(task.state == .waiting && (900...1000).contains(wait))
                    #expect(task.error?.sessionCode == .unacceptableStatus)
                    try await background.retry(id)
                    #expect(try await background.ended(id).state == .completed)
                }
            }
        }
    }

    /// A killed process leaves bytes without a digest, which are too many to be digested when a download is paused.
    @Test func aDownloadThatIsPausedAtOnceKeepsItsPart() async throws {
        let data = Data(repeating: 7, count: 80_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.fault = (.reset, 100_000, 1) }
            try await withFolder { folder in
                let later = { (configuration: inout BackgroundSession.Configuration) in
                    configuration.retryPolicy.backoff.first = .seconds(600)
                    configuration.retryPolicy.backoff.maximum = .seconds(600)
                }
                try await withBackground(in: folder, later) { background in
                    let events = background.events
                    let task = try await background.download(background.get(server), to: folder.appending(path: "file"))
                    for await event in events where event.task?.nextAttempt != nil { break }
                    let name = try #require(names(in: folder).first { $0.hasPrefix(".") })
                    try data.prefix(70_000_000).write(to: folder.appending(path: name))
                    files.change { $0.fault = (.stall, 0, 1) }
                    try await background.retry(task.id)
                    try await background.progress(of: task.id, beyond: 60_000_000)
                    try await background.pause(task.id)
                    try await background.state(.paused, of: task.id)
                    try await background.resume(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                    let ranges = files.requests.map { $0.headerFields[.range] }
                    #expect(ranges == [nil, "bytes=70000000-", "bytes=70000000-"])
                }
                #expect(try Data(contentsOf: folder.appending(path: "file")) == data)
            }
        }
    }
}

/// The SHA-256 of `bytes(100_000)`.
let digest100000 = [UInt8](Data(base64Encoded: base64Digest100000) ?? Data()).map { (byte: UInt8) -> String in
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
}.joined()

let base64Digest100000 = "5izzkqa3zNQMiA8UcaHaKDyGicmj0ry5yHiTHqu85ag="
