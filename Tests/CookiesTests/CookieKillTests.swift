import CommandSupport
import FoundationEssentials
import Synchronization
import Testing

@testable import LinnetCookies

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Processes that end in the middle of saving.
@Suite(.timeLimit(.minutes(10)))
struct CookieKillTests {
    /// The number of processes that are killed; the environment variable `LINNET_COOKIE_KILLS` sets another.
    private static let kills = ProcessInfo.processInfo.environment["LINNET_COOKIE_KILLS"].flatMap { Int($0) } ?? 5

    @Test func aKilledProcessLosesNoSavedCookie() async throws {
        let folder = KilledJar.folder(of: getpid())
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var most = 0
        for kill in 0..<Self.kills {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await KilledJar.saveUntilKilled(KilledJar.folder(of: getppid()))
            }
            let saved = try check(folder)
            print("kill \(kill): \(saved) saves")
            most = max(most, saved)
        }
        #expect(most > 0)
    }

    /// Opens the file, and checks each cookie. Returns the number of saves that had ended.
    private func check(_ folder: URL) throws -> Int {
        let jar = try CookieJar(contentsOf: KilledJar.file(in: folder)) { $0.now = { testTime } }
        let values = Dictionary(uniqueKeysWithValues: jar.all.map { ($0.name, $0.value) })
        let saved = try KilledJar.savedRounds(in: folder)
        for (writer, round) in saved.enumerated() where round > 0 {
            let value = try #require(values["writer-\(writer)"], "writer \(writer) had saved \(round)")
            let parts = value.split(separator: "-").map(String.init)
            let found = try #require(parts.first.flatMap { Int($0) })
            #expect(found >= round, "writer \(writer)")
            #expect(value == KilledJar.value(found))
        }
        // The next save replaces the unfinished file.
        try jar.save(to: KilledJar.file(in: folder))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["cookies", "cookies.lock", "saved"])
        return saved.reduce(0, +)
    }
}

/// The file that a process saves its jar to until it is killed.
enum KilledJar {
    private static let writers = 20

    static func folder(of process: pid_t) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "linnet-killed-jar-\(process)")
    }

    static func file(in folder: URL) -> URL { folder.appending(path: "cookies") }

    /// The value of a round, with a unique length.
    static func value(_ round: Int) -> String { "\(round)-" + String(repeating: "v", count: round % 997) }

    /// The last round that each writer had saved.
    static func savedRounds(in folder: URL) throws -> [Int] {
        let bytes = [UInt8](try Data(contentsOf: folder.appending(path: "saved")))
        return (0..<writers).map { writer in
            (0..<8).reduce(0) { number, index in
                let place = writer * 8 + index
                return number << 8 | (place < bytes.count ? Int(bytes[place]) : 0)
            }
        }
    }

    /// Tasks set cookies and save them, and one of them ends the process after a random number of steps.
    static func saveUntilKilled(_ folder: URL) async throws {
        let jar = try CookieJar(contentsOf: file(in: folder)) { $0.now = { testTime } }
        let first = (try? savedRounds(in: folder).max()) ?? 0
        let saved = open(folder.appending(path: "saved").path, O_RDWR | O_CREAT, 0o600)
        let steps = Atomic(0)
        let last = Int.random(in: 20...400)
        print("The process ends at step \(last).")
        let step: @Sendable () -> Void = {
            if steps.add(1, ordering: .relaxed).newValue == last { kill(getpid(), SIGKILL) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for round in (first + 1)... {
                        let date = testTime.addingTimeInterval(Double(round))
                        jar.set(try makeCookie("writer-\(writer)", value(round), created: date))
                        step()
                        try jar.save(to: file(in: folder))
                        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: round >> (56 - 8 * $0)) }
                        _ = pwrite(saved, bytes, 8, off_t(writer * 8))
                        step()
                        // Saving blocks and suspends nowhere.
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
