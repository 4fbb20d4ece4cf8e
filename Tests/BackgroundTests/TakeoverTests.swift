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

/// How soon an agent goes on.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct TakeoverTests {
    /// The best of a few rounds counts: other programs of the machine can only make one longer.
    @Test func anAgentTakesOverWithinATenthOfASecond() async throws {
        try await withFileServer(["/file": bytes(50_000_000)]) { files, server in
            files.change { $0.throttle = .init(bytes: 16 << 10, pause: .milliseconds(20)) }
            try await withFolder { folder in
                let place: String = folder.path
                let url: String = try server.url("/file").absoluteString
                try await withBackground(in: folder, { $0.role = .agent }) { agent in
                    try await agent.download(agent.session.get(url), to: folder.appending(path: "file"))
                    var news = agent.events.makeAsyncIterator()
                    while let event = await news.next(), event.kind != .becameRunner {}
                    var times: [Duration] = []
                    for _ in 0..<8 where (times.min() ?? .seconds(1)) >= .milliseconds(100) {
                        await #expect(processExitsWith: .signal(SIGKILL)) {
                            [place = place as String] in
                            try await Self.transferUntilKilled(in: URL(filePath: place))
                        }
                        while let event = await news.next(), event.kind != .becameRunner {}
                        let now = Self.now
                        let text = try String(contentsOf: folder.appending(path: "killed"), encoding: .utf8)
                        let killed = text.split(separator: " ").first.flatMap { Int64($0) }
                        times.append(.nanoseconds(now - (try #require(killed))))
                    }
                    print("The agent took over after \(times)")
                    #expect((times.min() ?? .seconds(1)) < .milliseconds(100), "\(times)")
                }
            }
        }
    }

    /// The number of rounds; the environment variable `LINNET_BACKGROUND_ROUNDS` sets another, and then the times
    /// count.
    private static let rounds =
        ProcessInfo.processInfo.environment["LINNET_BACKGROUND_ROUNDS"].flatMap { Int($0) }

    /// A program takes the transfer from the agent, and is killed; the agent goes on, and so forth.
    @Test func anAgentAndAProgramTakeTurnsWithoutALostByte() async throws {
        let data = bytes(100_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = .init(bytes: 16 << 10, pause: .milliseconds(10)) }
            try await withFolder { folder in
                let place: String = folder.path
                try await withBackground(in: folder, { $0.role = .agent }) { agent in
                    let task = try await agent.download(agent.get(server), to: folder.appending(path: "file"))
                    var news = agent.events.makeAsyncIterator()
                    while let event = await news.next(), event.kind != .becameRunner {}
                    var (takeovers, returns, lost): ([Duration], [Duration], [Int64]) = ([], [], [])
                    for _ in 0..<(Self.rounds ?? 2) {
                        try await agent.progress(of: task.id)
                        await #expect(processExitsWith: .signal(SIGKILL)) {
                            [place = place as String] in
                            try await Self.transferUntilKilled(in: URL(filePath: place))
                        }
                        while let event = await news.next(), event.kind != .becameRunner {}
                        let now = Self.now
                        let text = try String(contentsOf: folder.appending(path: "killed"), encoding: .utf8)
                        let numbers = text.split(separator: " ").compactMap { Int64($0) }
                        try #require(numbers.count == 3)
                        takeovers.append(.nanoseconds(now - numbers[0]))
                        returns.append(.nanoseconds(numbers[1]))
                        try await agent.progress(of: task.id, beyond: numbers[2])
                        lost.append(numbers[2] - (try Self.lastBegin(files)))
                    }
                    // The rest is another request, which is as fast as it can be.
                    files.change { $0.throttle = nil }
                    try await agent.pause(task.id)
                    try await agent.state(.paused, of: task.id)
                    try await agent.resume(task.id)
                    #expect(try await agent.ended(task.id).state == .completed)
                    let (takeover, back) = (takeovers.sorted(), returns.sorted())
                    print(
                        "\(takeovers.count) rounds: the agent went on after \(takeover[takeover.count / 2]) (at most "
                            + "\(takeover.last ?? .zero)), the program after \(back[back.count / 2]) (at most "
                            + "\(back.last ?? .zero)), bytes sent again at most \(lost.max() ?? 0)")
                    if Self.rounds != nil {
                        #expect(takeover[takeover.count / 2] < .milliseconds(100))
                        #expect(back.last ?? .zero < .seconds(1))
                    }
                    #expect(lost.allSatisfy { $0 <= 1 << 20 }, "\(lost)")
                }
                #expect(try Data(contentsOf: folder.appending(path: "file")) == data)
                let begins = try files.requests.dropFirst().map { try Self.begin($0) }
                #expect(zip(begins, begins.dropFirst()).allSatisfy { $0 <= $1 }, "\(begins)")
            }
        }
    }

    /// The first byte that a request asks for.
    private static func begin(_ request: RecordedRequest) throws -> Int64 {
        let range = try #require(request.headerFields[.range])
        return try #require(range.dropFirst("bytes=".count).split(separator: "-").first.flatMap { Int64($0) })
    }

    private static func lastBegin(_ files: FileServer) throws -> Int64 { try begin(try #require(files.requests.last)) }

    /// The time since the system started, in nanoseconds; the same for all processes.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func transferUntilKilled(in folder: URL) async throws {
        let start = now
        let background = try await BackgroundSession("test", directory: sessionFolder(folder))
        let events = background.events
        for await event in events where event.kind == .becameRunner { break }
        let handover = now - start
        for await event in events where event.kind == .progressed {
            let received = event.task?.progress.completed ?? 0
            try Data("\(now) \(handover) \(received)".utf8).write(to: folder.appending(path: "killed"))
            kill(getpid(), SIGKILL)
        }
    }
}
