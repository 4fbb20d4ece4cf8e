import FoundationEssentials
import GRDB
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Downloads after the system has ended: bytes that were not synchronized have become zeros.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct PowerFailureTests {
    private static let slow = MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(20))

    /// Kills a process in the middle of a download.
    private func begin(_ folder: URL, _ server: MockServer, segments: Int?) async throws {
        let place: String = folder.path
        let url: String = try server.url("/file").absoluteString
        let count: Int = segments ?? 0
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as String, url = url as String, count = count as Int] in
            let folder = URL(filePath: place)
            let background = try await BackgroundSession("test", directory: sessionFolder(folder))
            let events = background.events
            try await background.download(background.session.get(url), to: folder.appending(path: "file")) {
                if count > 0 { $0.segments = count }
            }
            for await event in events where event.task?.progress.completed ?? 0 > 1_500_000 { kill(getpid(), SIGKILL) }
        }
    }

    /// Sets all bytes of the part to zero after those of the first side file, and gives the system another boot.
    private func failPower(_ folder: URL, keeping kept: Int) throws {
        let name = try #require(names(in: folder).first { $0.hasPrefix(".") })
        let part = folder.appending(path: name)
        let size = try Data(contentsOf: part).count
        #expect(size > kept)
        let descriptor = open(part.path, O_WRONLY)
        defer { close(descriptor) }
        let zeros = Data(count: size - kept)
        let written = zeros.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(kept)) }
        #expect(written == zeros.count)
        let journal = try DatabaseQueue(path: sessionFolder(folder).appending(path: "journal.sqlite").path)
        try journal.write { database in
            let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8).prefix(36)
            try database.execute(
                sql: "UPDATE task SET result = CAST(replace(CAST(result AS TEXT), ?, 'earlier') AS BLOB)",
                arguments: [String(boot)])
            #expect(database.changesCount == 1)
            let result = try String.fetchOne(database, sql: "SELECT CAST(result AS TEXT) FROM task")
            #expect(result?.contains("earlier") == true)
        }
    }

    /// The first attempt after the failure ends before it reaches the server; the second one must not trust more.
    @Test(arguments: [nil, 4], [0, 1, 2])
    func bytesThatWereLostAreRequestedAgain(segments: Int?, failures: Int) async throws {
        let data = bytes(6_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                try await begin(folder, server, segments: segments)
                try failPower(folder, keeping: 64 << 10)
                files.change {
                    $0.throttle = nil
                    $0.answers = Array(repeating: .status(.serviceUnavailable), count: failures)
                }
                try await withBackground(in: folder) { background in
                    try await background.drained()
                    let task = try #require(try await background.tasks.first)
                    #expect(task.state == .completed, "\(String(describing: task.error))")
                }
                #expect(try Data(contentsOf: folder.appending(path: "file")) == data)
            }
        }
    }
}
