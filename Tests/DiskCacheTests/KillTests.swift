import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetDiskCache
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Processes that end in the middle of writing.
@Suite(.timeLimit(.minutes(10)))
struct KillTests {
    /// The number of processes that are killed; the environment variable `LINNET_CACHE_KILLS` sets another.
    private static let kills = ProcessInfo.processInfo.environment["LINNET_CACHE_KILLS"].flatMap { Int($0) } ?? 5

    @Test func aKilledProcessLeavesOnlyWholeEntries() async throws {
        let folder = KillPlace.folder(of: getpid())
        try? FileManager.default.removeItem(at: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        var found = 0
        for kill in 0..<Self.kills {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await KillPlace.fillUntilKilled(KillPlace.folder(of: getppid()))
            }
            let count = try await check(folder)
            print("kill \(kill): \(count) entries")
            found += count
        }
        #expect(found > 0)
    }

    /// Opens the directory, and checks each entry. Returns how many there are.
    private func check(_ folder: URL) async throws -> Int {
        let store = try DiskCacheStore(at: folder, limit: KillPlace.limit)
        let statistics = await store.statistics()
        #expect(statistics.bytes <= KillPlace.limit)
        var count = 0
        var size: Int64 = 0
        for index in 0..<KillPlace.keys {
            for stored in try await store.responses(for: try entry("/\(index)").key) {
                let seed = try #require(stored.head.headerFields[.eTag].flatMap { UInt64($0) })
                let body = try #require(try await store.body(of: stored.id))
                let data = try await body.bytes(in: 0..<body.size)
                #expect(data == KillPlace.body(seed), "key \(index), seed \(seed)")
                size += Int64(data.count)
                count += 1
            }
        }
        #expect(count == statistics.count)
        let files = folder.appending(path: "bodies")
        let sizes = try names(in: files).map { name in
            var status = stat()
            try #require(lstat(files.path + "/" + name, &status) == 0)
            return Int64(status.st_size)
        }
        // Entries that were not stored leave no file.
        #expect(sizes.count == count && sizes.reduce(0, +) == size)
        #expect(await store.statistics().failures == 0)
        return count
    }
}

/// The place where a process writes until it is killed.
enum KillPlace {
    static let limit: Int64 = 2 << 20
    static let keys = 300

    static func folder(of process: pid_t) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "linnet-kill-\(process)")
    }

    /// The body that a seed stands for.
    static func body(_ seed: UInt64) -> Data { bytes(Int(seed % 90_000), seed: seed) }

    /// 200 tasks write, and one of them ends the process after a random number of steps.
    static func fillUntilKilled(_ folder: URL) async throws {
        let store = try DiskCacheStore(at: folder, limit: limit)
        let steps = Atomic(0)
        let last = Int.random(in: 100...3000)
        print("The process ends at step \(last).")
        let step: @Sendable () -> Void = {
            if steps.add(1, ordering: .relaxed).newValue == last { kill(getpid(), SIGKILL) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    while true {
                        let seed = UInt64.random(in: 0..<1 << 40)
                        let response = try entry("/\(seed % UInt64(keys))", fields: [.eTag: "\(seed)"])
                        let writer = try await store.beginEntry(response, replacing: [])
                        let data = body(seed)
                        for start in stride(from: 0, to: data.count, by: 30_000) {
                            try await writer.append(data[start..<min(start + 30_000, data.count)])
                            step()
                        }
                        _ = try await writer.commit()
                        step()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
