import FoundationEssentials
import LinnetCache
import LinnetDiskCache
import Testing

/// An index that contradicts itself, which SQLite does not notice.
@Suite(.timeLimit(.minutes(1)))
struct IndexDamageTests {
    /// What makes it impossible to remove an entry. The last ones leave it in the index by use alone, so that it is found for ever.
    private static let irremovable = [
        ["CREATE TRIGGER a BEFORE DELETE ON entry BEGIN SELECT RAISE(IGNORE); END"],
        ["CREATE TRIGGER a BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'no'); END"],
        [
            """
            PRAGMA writable_schema = ON; CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = 'entryByUse';
            DELETE FROM sqlite_master WHERE name = 'entryByUse'
            """,
            "DELETE FROM entry WHERE key LIKE '%/1'",
            "PRAGMA writable_schema = ON; INSERT INTO sqlite_master SELECT * FROM kept; DROP TABLE kept",
        ],
    ]

    @Test(arguments: irremovable)
    func anEntryThatCannotBeEvictedIsDamage(statements: [String]) async throws {
        try await withCacheFolder { folder in
            let one = try entry("/1").size + 1000
            for index in 1...3 {
                let store = try DiskCacheStore(at: folder, limit: 3 * one, entryLimit: one)
                try await add(bytes(1000), "/\(index)", to: store)
            }
            for statement in statements { try await sqlite(folder, statement) }
            let store = try DiskCacheStore(at: folder, limit: 3 * one, entryLimit: one)
            await expect(.storageFailed) { try await add(bytes(1000), "/4", to: store) }
            #expect(names(in: folder).contains("index.sqlite.damaged"))
            try await add(bytes(1000), "/5", to: store)
            #expect(try await body("/5", in: store) == bytes(1000))
            #expect(await store.statistics().count == 1)
            #expect(names(in: folder.appending(path: "bodies")).count == 1)
        }
    }

    /// An invalidation that removed nothing would leave what is outdated.
    @Test func anEntryThatCannotBeInvalidatedIsDamage() async throws {
        try await withCacheFolder { folder in
            let key = try entry().key
            try await add(Data("a".utf8), to: try DiskCacheStore(at: folder))
            try await sqlite(folder, Self.irremovable[0][0])
            let store = try DiskCacheStore(at: folder)
            #expect(try await body(in: store) == Data("a".utf8))
            await expect(.storageFailed) { try await store.removeAll(for: [key]) }
            #expect(try await store.responses(for: key).isEmpty)
            #expect(names(in: folder.appending(path: "bodies")).isEmpty)
        }
    }

    /// A sum that is wrong while the index is open, or that is the sum of wrong sizes.
    @Test(arguments: [
        "UPDATE total SET size = 1000000000000", "UPDATE total SET size = -1000000000000",
        "UPDATE entry SET size = -1000000000000",
    ])
    func aSizeThatNoEntriesHaveIsDamage(damage: String) async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            try await add(Data("a".utf8), to: store)
            try await sqlite(folder, damage)
            await expect(.storageFailed) { try await add(Data("b".utf8), "/b", to: store) }
            let stored = try await add(Data("c".utf8), "/c", to: store)
            #expect(try await body("/c", in: store) == Data("c".utf8))
            #expect(await store.statistics().bytes == stored.size)
        }
    }
}
