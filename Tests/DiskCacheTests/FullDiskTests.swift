import CommandSupport
import FoundationEssentials
import GRDB
import HTTPTypes
import LinnetCache
import Testing

@testable import LinnetDiskCache

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A disk on which there is no space, which the store makes by removing its own entries.
@Suite(.timeLimit(.minutes(3)))
struct FullDiskTests {
    private func withSmallDisk(_ perform: (URL) async throws -> Void) async throws {
        try await withCacheFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try SmallDisk.mount(at: folder)
            do { try await perform(folder) } catch { Issue.record(error) }
            try SmallDisk.unmount(folder)
        }
    }

    /// A file system of 1 MiB, which has space for at most ten of these entries beside the index.
    @Test(.enabled(if: SmallDisk.isPossible, "Mounting a small file system is not allowed here."))
    func entriesMakeRoomOnAFullDisk() async throws {
        try await withSmallDisk { folder in
            let store = try DiskCacheStore(at: folder, limit: 100 << 20)
            try await add(bytes(100_000), "/used", to: store)
            for index in 0..<50 {
                try await add(bytes(100_000, seed: UInt64(index)), "/\(index)", to: store)
                #expect(try await body("/\(index)", in: store) == bytes(100_000, seed: UInt64(index)), "\(index)")
                // Noted, and not in the index before the next transaction.
                #expect(try await body("/used", in: store) == bytes(100_000), "\(index)")
            }
            let statistics = await store.statistics()
            #expect(4...10 ~= statistics.count && statistics.evictions == 51 - statistics.count)
            #expect(statistics.failures == 0)
        }
    }

    /// Others have filled the disk before the store opens its index, which takes space too.
    @Test(.enabled(if: SmallDisk.isPossible, "Mounting a small file system is not allowed here."))
    func aStoreOpensItsIndexOnAFullDisk() async throws {
        try await withSmallDisk { folder in
            do {
                let store = try DiskCacheStore(at: folder, limit: 100 << 20)
                let bodies = folder.appending(path: "bodies")
                for index in 0..<5 {
                    // The oldest files go first, and several can be of the same moment.
                    for name in names(in: bodies) { try age(bodies.appending(path: name)) }
                    try await add(bytes(100_000), "/\(index)", to: store)
                }
            }
            let filler = try #require(fopen(folder.appending(path: "filler").path, "w"))
            setvbuf(filler, nil, _IONBF, 0)
            while fputc(0, filler) != EOF {}
            #expect(errno == ENOSPC)
            fclose(filler)
            let store = try DiskCacheStore(at: folder, limit: 100 << 20)
            #expect(try await body("/4", in: store) == bytes(100_000))
            try await add(bytes(50_000), "/new", to: store)
            #expect(try await body("/new", in: store) == bytes(50_000))
            #expect(await store.statistics().count < 6)
        }
    }

    /// Makes a file an hour old.
    private func age(_ file: URL) throws {
        let hourAgo = timeval(tv_sec: time(nil) - 3600, tv_usec: 0)
        try #require(utimes(file.path, [hourAgo, hourAgo]) == 0)
    }

    // MARK: An index without space

    /// A store with an index that cannot get more pages, which needs no privileges.
    private func withFullIndex(_ perform: (DiskCacheStore, URL) async throws -> Void) async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder, limit: 100 << 20)
            for index in 0..<40 {
                let writer = try await store.beginEntry(
                    try entry("/\(index)", fields: [.eTag: String(repeating: "x", count: 3000)]), replacing: [])
                try await writer.append(bytes(10_000))
                _ = try await writer.commit()
            }
            try await store.index.run { database in
                try database.queue.inDatabase { database in
                    let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                    _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages)")
                }
            }
            try await perform(store, folder)
        }
    }

    @Test func entriesMakeRoomInAFullIndex() async throws {
        try await withFullIndex { store, folder in
            for index in 100..<140 {
                let writer = try await store.beginEntry(
                    try entry("/\(index)", fields: [.eTag: String(repeating: "y", count: 3000)]), replacing: [])
                try await writer.append(bytes(100, seed: UInt64(index)))
                _ = try await writer.commit()
                #expect(try await body("/\(index)", in: store) == bytes(100, seed: UInt64(index)))
            }
            let statistics = await store.statistics()
            #expect(statistics.evictions > 0 && statistics.failures == 0)
            #expect(try await body("/0", in: store) == nil)
            #expect(names(in: folder.appending(path: "bodies")).count == statistics.count)
        }
    }

    /// A head that grows: an outdated one must not stay because there is no space for the new one.
    @Test func anUpdateMakesRoomInAFullIndex() async throws {
        try await withFullIndex { store, _ in
            var stored = try #require(try await store.responses(for: try entry("/39").key).first)
            stored.head.headerFields[.eTag] = String(repeating: "z", count: 40_000)
            try await store.update(stored)
            #expect(try await store.responses(for: stored.key) == [stored])
            #expect(await store.statistics().evictions > 0)
        }
    }

    /// A name that was given and taken back can be given again.
    @Test func theFileOfACommitThatFailedCanBeKeptLater() async throws {
        try await withCacheFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let (new, final) = (folder.appending(path: "a.new").path, folder.appending(path: "a").path)
            do {
                let file = try LockedFile.create(new)
                try file.keep(as: final)
                #expect(names(in: folder) == ["a"])
                file.takeBack(from: final)
                #expect(names(in: folder) == ["a.new"])
                try file.keep(as: final)
                #expect(names(in: folder) == ["a"])
                file.takeBack(from: final)
            }
            #expect(names(in: folder).isEmpty)
        }
    }

    // MARK: Notes

    /// A transaction that fails without damage: the row of the entry is gone.
    private func failToCommit(_ store: DiskCacheStore, in folder: URL, after perform: () async throws -> Void)
        async throws
    {
        let writer = try await store.beginEntry(try entry("/lost"), replacing: [])
        try await perform()
        try await sqlite(folder, "DELETE FROM entry WHERE NOT isStored AND key LIKE '%/lost'")
        await expect(.entryRemoved) { _ = try await writer.commit() }
    }

    @Test func aUseIsWrittenAfterATransactionThatFailed() async throws {
        try await withCacheFolder { folder in
            let one = try entry("/1").size + 1000
            let store = try DiskCacheStore(at: folder, limit: 2 * one, entryLimit: one)
            for path in ["/1", "/2"] { try await add(bytes(1000), path, to: store) }
            try await failToCommit(store, in: folder) {
                let used = try await body("/1", in: store)
                #expect(used == bytes(1000))
            }
            try await add(bytes(1000), "/3", to: store)
            #expect(try await body("/1", in: store) == bytes(1000))
            #expect(try await body("/2", in: store) == nil)
        }
    }

    @Test func anAbandonedEntryIsRemovedAfterATransactionThatFailed() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            let abandoned = try await store.beginEntry(try entry("/abandoned"), replacing: [])
            try await failToCommit(store, in: folder) { await abandoned.abandon() }
            try await add(bytes(10), to: store)
            #expect(try await sqlite(folder, "SELECT key FROM entry") == "https://example.com/a")
        }
    }
}
