import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

/// Tasks that are paused, resumed, cancelled, retried, ordered and limited.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct ControlTests {
    private static let slow = MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(20))

    @Test func aPausedDownloadGoesOnFromItsPart() async throws {
        let data = bytes(3_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file)
                    try await background.progress(of: task.id, beyond: 500_000)
                    try await background.pause(task.id)
                    try await background.state(.paused, of: task.id)
                    let paused = try #require(try await background.task(task.id))
                    #expect(paused.progress.completed >= 500_000 && paused.progress.total == 3_000_000)
                    files.change { $0.throttle = nil }
                    #expect(try await background.resume(task.id).state == .waiting)
                    #expect(try await background.ended(task.id).state == .completed)
                    let range = try #require(files.requests.last?.headerFields[.range])
                    #expect(range == "bytes=\(paused.progress.completed)-")
                }
                #expect(try Data(contentsOf: file) == data)
            }
        }
    }

    @Test func aDownloadThatIsPausedAtItsBeginningKeepsItsPart() async throws {
        let data = bytes(3_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file)
                    try await background.progress(of: task.id, beyond: 500_000)
                    try await background.pause(task.id)
                    try await background.state(.paused, of: task.id)
                    // The attempts are stopped before, while and after their requests begin.
                    for round in 0..<20 {
                        try await background.resume(task.id)
                        if round % 2 == 0 { try await background.state(.running, of: task.id) }
                        try await background.pause(task.id)
                        try await background.state(.paused, of: task.id)
                    }
                    files.change { $0.throttle = nil }
                    try await background.resume(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(files.requests.dropFirst().allSatisfy { $0.headerFields[.range] != nil })
            }
        }
    }

    @Test func aCancelledDownloadLeavesNothing() async throws {
        try await withFileServer(["/file": bytes(3_000_000)]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file)
                    try await background.progress(of: task.id, beyond: 200_000)
                    try await background.cancel(task.id)
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .cancelled && ended.error == nil)
                }
                #expect(names(in: folder) == ["session"])
                #expect(names(in: folder.appending(path: "session/parts")).isEmpty)
            }
        }
    }

    @Test func aFailedTaskIsRetried() async throws {
        try await withFileServer([:]) { files, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: folder.appending(path: "file"))
                    #expect(try await background.ended(task.id).state == .failed)
                    files.change { $0.files = ["/file": bytes(10)] }
                    try await background.retry(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                }
            }
        }
    }

    @Test func aTaskOfAMillionRetriesGoesOn() async throws {
        try await withFileServer(["/file": bytes(10)]) { files, server in
            files.change { $0.answers = [MockResponse](repeating: .status(.serviceUnavailable), count: 3) }
            try await withFolder { folder in
                let id = try await withBackground(in: folder, { $0.role = .observer }) { background in
                    try await background.download(background.get(server), to: folder.appending(path: "file")).id
                }
                let journal = sessionFolder(folder).appending(path: "journal.sqlite").path
                let counts = "'$.attempts', 1000000, '$.failures', 1000000"
                try await Command.sqlite(
                    journal, "UPDATE task SET machine = CAST(json_set(CAST(machine AS TEXT), \(counts)) AS BLOB)")
                try await withBackground(in: folder, { $0.retryPolicy.limit = .max }) { background in
                    let ended = try await background.ended(id)
                    #expect(ended.state == .completed && ended.attempts == 1_000_004)
                }
            }
        }
    }

    @Test func theLimitsHold() async throws {
        try await withFileServer(["/file": bytes(200_000)]) { files, server in
            files.change { $0.throttle = .init(bytes: 64 << 10, pause: .milliseconds(10)) }
            try await withFolder { folder in
                try await withBackground(in: folder, { $0.maximumActivePerHost = 2 }) { background in
                    let events = background.events
                    for index in 0..<8 {
                        try await background.download(background.get(server), to: folder.appending(path: "\(index)"))
                    }
                    var (running, most) = (Set<BackgroundTask.ID>(), 0)
                    var ended = 0
                    for await event in events where event.kind == .changed {
                        let task = try #require(event.task)
                        if task.state == .running { running.insert(task.id) } else { running.remove(task.id) }
                        most = max(most, running.count)
                        if task.state.isEnd { ended += 1 }
                        if ended == 8 { break }
                    }
                    // As many again may have all bytes, and are running until their files have been moved.
                    #expect((2...4).contains(most))
                    try await background.drained()
                    #expect(try await background.tasks.allSatisfy { $0.state == .completed })
                }
            }
        }
    }

    @Test func prioritiesOrderTheWaitingTasks() async throws {
        try await withFileServer(["/file": bytes(10)]) { files, server in
            try await withFolder { folder in
                try await withBackground(in: folder, { $0.maximumActive = 1 }) { background in
                    // They become due together, when all of them are accepted.
                    let begin = Date.now + 0.5
                    for (name, priority) in [("low", RequestPriority.low), ("normal", .normal), ("high", .high)] {
                        let call = try background.get(server, "/file?\(name)")
                        try await background.download(call, to: folder.appending(path: name)) {
                            $0.priority = priority
                            $0.earliestBeginDate = begin
                        }
                    }
                    try await background.drained()
                }
                #expect(files.requests.map(\.query) == ["high", "normal", "low"])
            }
        }
    }

    @Test func anExpiredTaskFails() async throws {
        try await withFileServer(["/file": bytes(3_000_000)]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let running = try await background.download(background.get(server), to: folder.appending(path: "a"))
                    {
                        $0.timeout = .milliseconds(200)
                    }
                    let waiting = try await background.download(background.get(server), to: folder.appending(path: "b"))
                    {
                        $0.timeout = .zero
                    }
                    #expect(try await background.ended(running.id).error?.code == .expired)
                    #expect(try await background.ended(waiting.id).error?.code == .expired)
                }
            }
        }
    }
}
