import CommandSupport
import FoundationEssentials
import LinnetBackground
import LinnetSession
import Testing

/// The memory of a session with many tasks, which stay in the journal.
@Suite(.timeLimit(.minutes(2)), .enabled(if: !isSanitized, "a sanitizer keeps what was released for a while"))
struct QueueMemoryTests {
    @Test func aThousandQueuedTasksNeedLittleMemory() async throws {
        try await withFolder { folder in
            let place: String = folder.path
            // In a process of its own, whose memory no other test changes.
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                [place = place as String] in
                try await Self.measure(in: URL(filePath: place))
            }
            let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
            for line in output.split(separator: "\n") where line.contains("queued tasks") { print(line) }
        }
    }

    private static func measure(in folder: URL) async throws {
        try await withBackground(in: folder) { background in
            // The first tasks load code, and fill the caches of SQLite.
            try await add(0..<100, to: background, folder)
            let idle = try memory()
            try await add(100..<1100, to: background, folder)
            let queued = try memory()
            print("1,000 queued tasks: \(queued - idle) kB over \(idle) kB")
            #expect(queued - idle < 4096)
        }
    }

    private static func add(_ numbers: Range<Int>, to background: BackgroundSession, _ folder: URL) async throws {
        for number in numbers {
            let call = background.session.get("http://127.0.0.1:9/\(number)")
            try await background.download(call, to: folder.appending(path: "file-\(number)")) {
                $0.earliestBeginDate = .distantFuture
            }
        }
    }

    /// The memory of this process that is in use and is no file's, in kilobytes.
    private static func memory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") })
        return try #require(Int(line.filter(\.isNumber)))
    }
}
