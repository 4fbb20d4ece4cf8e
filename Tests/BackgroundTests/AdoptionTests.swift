import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Tasks that a session takes over from an earlier one.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct AdoptionTests {
    private static let slow = MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(20))

    @Test func aSessionGoesOnWithAnEarlierOnesTasks() async throws {
        let data = bytes(3_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                let id = try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file)
                    try await background.progress(of: task.id, beyond: 500_000)
                    return task.id
                }
                files.change { $0.throttle = nil }
                try await withBackground(in: folder) { background in
                    var kinds: [BackgroundEvent.Kind] = []
                    for await event in background.events {
                        if event.kind == .adopted { #expect(event.task?.id == id) }
                        kinds.append(event.kind)
                        if event.task?.state == .completed { break }
                    }
                    #expect(kinds.prefix(2) == [.adopted, .didFinishEvents])
                    #expect(kinds.count { $0 == .didFinishEvents } == 1)
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(files.requests.count == 2 && files.requests.last?.headerFields[.range] != nil)
            }
        }
    }

    @Test func anEndIsToldUntilAProgramHasReadIt() async throws {
        try await withFileServer(["/file": bytes(10)]) { _, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: folder.appending(path: "file"))
                    while try await background.task(task.id)?.state != .completed { try await background.drained() }
                }
                // Nothing has read the events so far.
                for isTold in [false, true] {
                    try await withBackground(in: folder) { background in
                        var adopted: [BackgroundTask.State?] = []
                        for await event in background.events {
                            if event.kind == .didFinishEvents { break }
                            adopted.append(event.task?.state)
                        }
                        #expect(adopted == (isTold ? [] : [.completed]))
                        if !isTold { try await Self.waitUntilTold(background) }
                    }
                }
            }
        }
    }

    /// The note that an end was told is written after the event; a transaction of the journal comes after it.
    private static func waitUntilTold(_ background: BackgroundSession) async throws {
        for _ in 0..<50 { _ = try await background.tasks }
    }

    @Test func oneSessionTransfersAndTheOtherAdds() async throws {
        try await withFileServer(["/file": bytes(10)]) { _, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { runner in
                    try await withBackground(in: folder) { observer in
                        #expect(await runner.isRunner)
                        #expect(await !observer.isRunner)
                        try await observer.download(observer.get(server), to: folder.appending(path: "file"))
                        #expect(try await runner.tasks.count == 1)
                    }
                }
            }
        }
    }

    @Test(arguments: 1...6)
    func aKilledProcessLosesNothing(round: Int) async throws {
        let data = bytes(3_000_000, seed: UInt64(round))
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let place: String = folder.path
                let url: String = try server.url("/file").absoluteString
                let limit = Int64(round * 400_000)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [place = place as String, url = url as String, limit = limit as Int64] in
                    let folder = URL(filePath: place)
                    let background = try await BackgroundSession("test", directory: sessionFolder(folder))
                    let events = background.events
                    try await background.download(background.session.get(url), to: folder.appending(path: "file"))
                    for await event in events where event.task?.progress.completed ?? 0 > limit {
                        kill(getpid(), SIGKILL)
                    }
                }
                files.change { $0.throttle = nil }
                try await withBackground(in: folder) { background in
                    try await background.drained()
                    let task = try #require(try await background.tasks.first)
                    #expect(task.state == .completed && task.attempts == 2, "\(String(describing: task.error))")
                }
                #expect(try Data(contentsOf: folder.appending(path: "file")) == data)
                #expect(names(in: folder) == ["file", "session"])
                let range = try #require(files.requests.last?.headerFields[.range])
                let first = try #require(Int64(range.dropFirst("bytes=".count).dropLast()))
                // The part has what the killed process had reported, and what it wrote meanwhile.
                #expect(first > limit)
            }
        }
    }

    /// A process can end when it has removed a part, or has renamed it because it is complete.
    @Test(arguments: [0, 3_000_000])
    func progressIsOfTheFilesThatAreThere(count: Int) async throws {
        let data = bytes(3_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let id = try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: folder.appending(path: "file"))
                    try await background.progress(of: task.id, beyond: 500_000)
                    return task.id
                }
                let part = try #require(names(in: folder).first { $0.contains(".whole.linnet-") })
                try FileManager.default.removeItem(at: folder.appending(path: part))
                let end = try #require(part.firstRange(of: ".whole")).upperBound
                if count > 0 { try data.write(to: folder.appending(path: String(part[..<end].dropFirst()))) }
                try await withBackground(in: folder, { $0.role = .observer }) { background in
                    let progress = try #require(try await background.task(id)).progress
                    #expect(progress.completed == count && progress.total == 3_000_000)
                }
                files.change { $0.throttle = nil }
                try await withBackground(in: folder) { background in
                    let task = try await background.ended(id)
                    #expect(task.state == .completed && task.progress.completed == 3_000_000)
                }
                #expect(try Data(contentsOf: folder.appending(path: "file")) == data)
                #expect(files.requests.count == (count > 0 ? 1 : 2))
            }
        }
    }
}
