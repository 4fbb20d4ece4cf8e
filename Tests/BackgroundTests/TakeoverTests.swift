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
                        times.append(.nanoseconds(now - (try #require(Int64(text)))))
                    }
                    print("The agent took over after \(times)")
                    #expect((times.min() ?? .seconds(1)) < .milliseconds(100), "\(times)")
                }
            }
        }
    }

    /// The time since the system started, in nanoseconds; the same for all processes.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func transferUntilKilled(in folder: URL) async throws {
        let background = try await BackgroundSession("test", directory: sessionFolder(folder))
        let events = background.events
        for await event in events where event.kind == .becameRunner { break }
        for await event in events where event.kind == .progressed {
            try Data("\(now)".utf8).write(to: folder.appending(path: "killed"))
            kill(getpid(), SIGKILL)
        }
    }
}
