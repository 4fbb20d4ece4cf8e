import CommandSupport
import FoundationEssentials
import LinnetCache
import Testing

@testable import LinnetDiskCache

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Directories in which nothing can be changed.
@Suite(.timeLimit(.minutes(3)))
struct ReadOnlyTests {
    private static let isPossible = geteuid() != 0 || SmallDisk.isPossible

    /// Makes a directory with entries read-only: by its permissions, which do not bind root, or by a file system.
    private func withReadOnly(
        _ fill: (URL) async throws -> Void, _ perform: (URL) async throws -> Void
    ) async throws {
        try await withCacheFolder { folder in
            let isRoot = geteuid() == 0
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            if isRoot { try SmallDisk.mount(at: folder) } else { chmod(folder.path, 0o700) }
            let bodies = folder.appending(path: "bodies").path
            do {
                try await fill(folder)
                if isRoot {
                    // Only a file system without files that are open for writing can become read-only.
                    try SmallDisk.mount(at: folder, options: "remount,ro")
                } else {
                    for path in [bodies, folder.path] { chmod(path, 0o500) }
                }
                try await perform(folder)
            } catch {
                Issue.record(error)
            }
            if isRoot {
                try SmallDisk.unmount(folder)
            } else {
                for path in [folder.path, bodies] { chmod(path, 0o700) }
            }
        }
    }

    private func expectService(in folder: URL) async throws {
        let before = names(in: folder)
        let store = try DiskCacheStore(at: folder)
        for path in ["/a", "/b"] { #expect(try await body(path, in: store) == Data(path.utf8)) }
        #expect(await store.statistics().failures == 0)
        #expect(await store.statistics().count == 2)
        for _ in 0..<300 { #expect(try await body("/a", in: store) == Data("/a".utf8)) }
        await expect(.storageFailed) { try await add(Data("c".utf8), "/c", to: store) }
        await expect(.storageFailed) { try await store.removeAll() }
        #expect(try await body("/b", in: store) == Data("/b".utf8))
        #expect(names(in: folder) == before)
    }

    @Test(.enabled(if: isPossible, "Root is not bound by permissions, and must not mount a file system here."))
    func aReadOnlyDirectoryServesItsEntries() async throws {
        try await withReadOnly { folder in
            let store = try DiskCacheStore(at: folder)
            for path in ["/a", "/b"] { try await add(Data(path.utf8), path, to: store) }
        } _: { folder in
            #expect(!names(in: folder).contains("index.sqlite-wal"))
            try await expectService(in: folder)
        }
    }

    /// The directory of a killed process: with a log that contains some of the index.
    @Test(.enabled(if: isPossible, "Root is not bound by permissions, and must not mount a file system here."))
    func aReadOnlyDirectoryServesTheEntriesInItsLog() async throws {
        try await withCacheFolder { original in
            let store = try DiskCacheStore(at: original)
            for path in ["/a", "/b"] { try await add(Data(path.utf8), path, to: store) }
            try await withReadOnly { folder in
                for name in names(in: original) {
                    try FileManager.default.copyItem(
                        at: original.appending(path: name), to: folder.appending(path: name))
                }
            } _: { folder in
                #expect(names(in: folder).contains("index.sqlite-wal"))
                try await expectService(in: folder)
            }
            #expect(await store.statistics().count == 2)
        }
    }

    /// A damaged entry stays where it is, and the others answer.
    @Test(.enabled(if: isPossible, "Root is not bound by permissions, and must not mount a file system here."))
    func aDamagedEntryOfAReadOnlyDirectoryIsAMiss() async throws {
        try await withReadOnly { folder in
            do {
                let store = try DiskCacheStore(at: folder)
                for path in ["/a", "/b", "/c"] { try await add(Data(path.utf8), path, to: store) }
            }
            try await sqlite(folder, "UPDATE entry SET head = x'00' WHERE key LIKE '%/b'")
            let id = try #require(UInt64(try await sqlite(folder, "SELECT id FROM entry WHERE key LIKE '%/c'")))
            let name = String(id, radix: 16)
            let file = String(repeating: "0", count: 16 - name.utf8.count) + name
            try Data("x".utf8).write(to: folder.appending(path: "bodies/\(file)"))
        } _: { folder in
            let store = try DiskCacheStore(at: folder)
            #expect(try await body("/a", in: store) == Data("/a".utf8))
            #expect(try await store.responses(for: try entry("/b").key).isEmpty)
            #expect(try await body("/c", in: store) == nil)
            #expect(try await body("/a", in: store) == Data("/a".utf8))
        }
    }

    @Test(.enabled(if: isPossible, "Root is not bound by permissions, and must not mount a file system here."))
    func aReadOnlyDirectoryWithoutACacheIsAMiss() async throws {
        try await withReadOnly { _ in
        } _: { folder in
            let store = try DiskCacheStore(at: folder)
            await expect(.storageFailed) { _ = try await body(in: store) }
            #expect(names(in: folder).isEmpty)
        }
    }

    // MARK: Without privileges

    @Test func aReadOnlyIndexServesEntriesAndRefusesChanges() async throws {
        try await withCacheFolder { parent in
            // A URI has these characters escaped.
            let url = parent.appending(path: "a%41?b#c ü")
            let stored: StoredResponse
            do { stored = try await add(Data("a".utf8), to: try DiskCacheStore(at: url)) }
            let folder = try CacheFolder(url)
            let limits = CacheLimits(total: 1 << 20, entry: nil)
            let before = names(in: url)
            let index = try IndexDatabase(reading: folder, limits: limits)
            #expect(try index.entries(for: stored.key).entries.map(\.response) == [stored])
            #expect(try index.entries(for: stored.key).number == nil)
            #expect(throws: CacheError.self) { try index.begin(stored, IndexDatabase.Notes()) }
            #expect(throws: CacheError.self) { try index.remove([stored.id], IndexDatabase.Notes()) }
            #expect(throws: CacheError.self) { try index.removeAll(IndexDatabase.Notes()) }
            #expect(names(in: url) == before)
            // Another process that can changes the index.
            let state = try #require(folder.indexState)
            #expect(state == index.readState)
            do { try await add(Data("b".utf8), "/b", to: try DiskCacheStore(at: url)) }
            #expect(folder.indexState != state)
        }
    }

    @Test func anIndexOfAnotherVersionIsNotRead() async throws {
        try await withCacheFolder { url in
            do { try await add(Data("a".utf8), to: try DiskCacheStore(at: url)) }
            try await sqlite(url, "PRAGMA user_version = 1")
            let folder = try CacheFolder(url)
            #expect(throws: (any Error).self) {
                try IndexDatabase(reading: folder, limits: CacheLimits(total: 1 << 20, entry: nil))
            }
            #expect(!names(in: url).contains("index.sqlite.damaged"))
        }
    }
}
