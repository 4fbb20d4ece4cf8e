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

/// Several sessions of one directory.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(3)))
struct SeveralSessionsTests {
    private static let slow = MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(20))

    @Test func anObserverAddsAndFollowsAndControls() async throws {
        let data = bytes(3_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { runner in
                    try await withBackground(in: folder, { $0.role = .observer }) { observer in
                        #expect(await runner.isRunner)
                        #expect(await !observer.isRunner)
                        let task = try await observer.download(observer.get(server), to: file)
                        try await observer.state(.running, of: task.id)
                        try await runner.progress(of: task.id, beyond: 300_000)
                        let seen = try #require(try await observer.task(task.id)).progress
                        #expect(seen.completed > 0 && seen.total == 3_000_000)
                        try await observer.pause(task.id)
                        try await observer.state(.paused, of: task.id)
                        let paused = try #require(try await observer.task(task.id))
                        #expect(paused.progress.completed >= 300_000)
                        files.change { $0.throttle = nil }
                        try await observer.resume(task.id)
                        #expect(try await observer.ended(task.id).state == .completed)
                    }
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(names(in: sessionFolder(folder).appending(path: "sockets")).isEmpty)
            }
        }
    }

    @Test func theSecondSessionGoesOnWhenTheFirstEnds() async throws {
        let data = bytes(3_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                let first = try await BackgroundSession("test", directory: sessionFolder(folder))
                try await withBackground(in: folder) { second in
                    let events = second.events
                    let task = try await first.download(first.get(server), to: file)
                    try await first.progress(of: task.id, beyond: 300_000)
                    await first.shutdown()
                    for await event in events where event.kind == .becameRunner { break }
                    files.change { $0.throttle = nil }
                    #expect(try await second.ended(task.id).state == .completed)
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(files.requests.count == 2 && files.requests.last?.headerFields[.range] != nil)
            }
        }
    }

    /// Two programs with one identifier: the configuration of the one that transfers applies, whichever has added a
    /// task.
    @Test func eachProgramAppliesItsOwnConfiguration() async throws {
        try await withFileServer(["/file": bytes(5_000_000)]) { files, server in
            // No transfer completes during the test.
            files.change { $0.throttle = .init(bytes: 1 << 10, pause: .milliseconds(100)) }
            try await withFolder { folder in
                let first = try await BackgroundSession("test", directory: sessionFolder(folder)) {
                    $0.maximumActive = 1
                }
                try await withBackground(in: folder, { $0.maximumActive = 3 }) { second in
                    for index in 0..<6 {
                        try await second.download(second.get(server), to: folder.appending(path: "\(index)"))
                    }
                    func checkRunning(_ count: Int) async throws {
                        while try await second.tasks.count(where: { $0.state == .running }) < count {
                            try await Task.sleep(for: .milliseconds(5))
                        }
                        for _ in 0..<20 {
                            #expect(try await second.tasks.count { $0.state == .running } == count)
                        }
                    }
                    try await checkRunning(1)
                    await first.shutdown()
                    try await checkRunning(3)
                    #expect(await second.isRunner)
                }
            }
        }
    }

    @Test func anAgentGivesTheTransfersToAProgramAndTakesThemBack() async throws {
        let data = bytes(2_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder, { $0.role = .agent }) { agent in
                    let news = agent.events
                    let task = try await agent.download(agent.get(server), to: file)
                    try await agent.progress(of: task.id, beyond: 200_000)
                    let clock = ContinuousClock()
                    let begin = clock.now
                    try await withBackground(in: folder) { program in
                        for await event in program.events where event.kind == .becameRunner { break }
                        #expect(clock.now - begin < .seconds(1))
                        #expect(await !agent.isRunner)
                        try await program.progress(of: task.id, beyond: 600_000)
                    }
                    for await event in news where event.kind == .becameRunner { break }
                    for await event in news where event.kind == .becameRunner { break }
                    files.change { $0.throttle = nil }
                    #expect(try await agent.ended(task.id).state == .completed)
                }
                #expect(try Data(contentsOf: file) == data)
                // No byte was sent twice: each range begins where the part before it ended.
                #expect(files.requests.count == 3)
            }
        }
    }

    @Test func anAgentGoesOnAfterAKill() async throws {
        let data = bytes(2_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let place: String = folder.path
                let url: String = try server.url("/file").absoluteString
                try await withBackground(in: folder, { $0.role = .agent }) { agent in
                    await #expect(processExitsWith: .signal(SIGKILL)) {
                        [place = place as String, url = url as String] in
                        let folder = URL(filePath: place)
                        let background = try await BackgroundSession("test", directory: sessionFolder(folder))
                        let events = background.events
                        for await event in events where event.kind == .becameRunner { break }
                        try await background.download(background.session.get(url), to: folder.appending(path: "file"))
                        for await event in events where event.task?.progress.completed ?? 0 > 500_000 {
                            kill(getpid(), SIGKILL)
                        }
                    }
                    files.change { $0.throttle = nil }
                    let task = try #require(try await agent.tasks.first)
                    #expect(try await agent.ended(task.id).state == .completed)
                    #expect(await agent.isRunner)
                }
                #expect(try Data(contentsOf: folder.appending(path: "file")) == data)
            }
        }
    }

    @Test func twoProcessesAddAtOnce() async throws {
        try await withFolder { folder in
            let place: String = folder.path
            let other = Task { await Self.addInAnotherProcess(place) }
            try await withBackground(in: folder) { background in
                let call = background.session.get("http://127.0.0.1:9/a")
                for index in 0..<100 {
                    try await background.download(call, to: folder.appending(path: "here-\(index)")) {
                        $0.earliestBeginDate = .distantFuture
                    }
                }
                await other.value
                let tasks = try await background.tasks
                #expect(tasks.count == 200)
                #expect(Set(tasks.map(\.file)).count == 200)
            }
        }
    }

    private static func addInAnotherProcess(_ place: String) async {
        await #expect(processExitsWith: .success) { [place = place as String] in
            let folder = URL(filePath: place)
            try await withBackground(in: folder) { background in
                let call = background.session.get("http://127.0.0.1:9/a")
                for index in 0..<100 {
                    try await background.download(call, to: folder.appending(path: "there-\(index)")) {
                        $0.earliestBeginDate = .distantFuture
                    }
                }
            }
        }
    }
}
