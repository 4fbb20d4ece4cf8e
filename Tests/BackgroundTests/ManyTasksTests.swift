import FoundationEssentials
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Journals with many tasks.
@Suite(.timeLimit(.minutes(20)))
struct ManyTasksTests {
    /// The number of tasks that each process adds; the environment variable `LINNET_BACKGROUND_TASKS` sets another.
    private static let count =
        ProcessInfo.processInfo.environment["LINNET_BACKGROUND_TASKS"].flatMap { Int($0) } ?? 500

    @Test func twoProcessesAddWhileTheRunnerChanges() async throws {
        try await withFolder { folder in
            let place: String = folder.path
            let count: Int = Self.count
            let adding = ["a", "b"].map { name in
                Task {
                    _ = await #expect(processExitsWith: .success) {
                        [place = place as String, count = count as Int, name = name as String] in
                        try await Self.add(count, named: name, in: URL(filePath: place))
                    }
                }
            }
            var changes = 0
            while changes < max(10, Self.count / 100) {
                let runner = try await BackgroundSession("test", directory: sessionFolder(folder))
                if await runner.isRunner { changes += 1 }
                await runner.shutdown()
            }
            for task in adding { await task.value }
            try await withBackground(in: folder) { background in
                let tasks = try await background.tasks
                #expect(tasks.count == 2 * Self.count)
                #expect(Set(tasks.map(\.file)).count == 2 * Self.count)
                #expect(tasks.allSatisfy { $0.state == .waiting })
            }
        }
    }

    @Test func aLargeJournalOpensFast() async throws {
        try await withFolder { folder in
            let clock = ContinuousClock()
            let adding = try await clock.measure { try await Self.add(Self.count, named: "a", in: folder) }
            var background: BackgroundSession?
            let opening = try await clock.measure {
                background = try await BackgroundSession("test", directory: sessionFolder(folder))
            }
            print("\(Self.count) tasks: added in \(adding), opened in \(opening)")
            #expect(opening < .seconds(2))
            var adopted = 0
            for await event in try #require(background).events {
                if event.kind == .didFinishEvents { break }
                if event.kind == .adopted { adopted += 1 }
            }
            #expect(adopted == min(Self.count, 5000))
            await background?.shutdown()
        }
    }

    /// Adds tasks that wait, a hundred at a time.
    private static func add(_ count: Int, named name: String, in folder: URL) async throws {
        try await withBackground(in: folder, { $0.role = .observer }) { background in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<100 {
                    group.addTask {
                        for index in stride(from: worker, to: count, by: 100) {
                            let call = background.session.get("http://127.0.0.1:9/\(index)")
                            try await background.download(call, to: folder.appending(path: "\(name)-\(index)")) {
                                $0.earliestBeginDate = Date.distantFuture
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
