import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetDiskCache
import Testing

/// An index that contradicts itself, which SQLite does not notice.
@Suite(.timeLimit(.minutes(1)))
struct IndexDamageTests {
    /// Damage that makes it impossible to remove an entry. In the last cases, the entry stays in the index by use
    /// alone, so that it is found forever.
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

    /// An invalidation that removed nothing would leave outdated entries.
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

    /// The index of keys has swapped two entries.
    @Test func anEntryOfAnotherKeyIsDamage() async throws {
        try await withCacheFolder { folder in
            let (one, other) = (try entry("/a").key.description, try entry("/b").key.description)
            for path in ["/a", "/b"] { try await add(Data(path.utf8), path, to: try DiskCacheStore(at: folder)) }
            try await sqlite(
                folder,
                """
                CREATE TABLE swapped (id INTEGER PRIMARY KEY, key TEXT NOT NULL);
                INSERT INTO swapped SELECT id, CASE key WHEN '\(one)' THEN '\(other)' ELSE '\(one)' END FROM entry;
                CREATE INDEX swappedOfKey ON swapped(key);
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'swappedOfKey')
                WHERE name = 'entryOfKey';
                """)
            let store = try DiskCacheStore(at: folder)
            await expect(.storageFailed) { _ = try await body("/a", in: store) }
            #expect(names(in: folder).contains("index.sqlite.damaged"))
            #expect(try await body("/b", in: store) == nil)
            try await add(Data("new".utf8), "/a", to: store)
            #expect(try await body("/a", in: store) == Data("new".utf8))
        }
    }

    /// Numbers of entries are positive.
    @Test func anEntryWithoutANumberIsDamage() async throws {
        try await withCacheFolder { folder in
            try await add(Data("a".utf8), to: try DiskCacheStore(at: folder))
            let store = try DiskCacheStore(at: folder)
            #expect(try await body(in: store) == Data("a".utf8))
            try await sqlite(folder, "UPDATE entry SET id = -id")
            try await add(Data("b".utf8), "/b", to: store)
            await expect(.storageFailed) { _ = try await body(in: store) }
            try await add(Data("new".utf8), to: store)
            #expect(try await body(in: store) == Data("new".utf8))
        }
    }

    // MARK: Seals

    /// Stores the bytes 10 to 13 of 100, or a whole body.
    private func addSealed(to folder: URL, isPart: Bool) async throws -> StoredResponse {
        var response = try entry(fields: [.eTag: "one"])
        response.part = isPart ? StoredResponse.Part(range: 10..<14, total: 100) : nil
        let store = try DiskCacheStore(at: folder)
        let writer = try await store.beginEntry(response, replacing: [])
        try await writer.append(Data("abcd".utf8))
        return try await writer.commit()
    }

    private static let ofAny = [
        "id = id - 1", "key = key || 'b'", "variant = x'7B7D'", "variant = 5",
        "head = CAST(replace(CAST(head AS TEXT), 'one', 'two') AS BLOB)", "head = x''", "requestTime = requestTime + 1",
        "requestTime = 'a'", "responseTime = responseTime - 1", "seal = zeroblob(32)", "seal = x''", "bodySize = 3",
        "bodySize = 'a'", "partStart = 0, partEnd = 4, partTotal = 4", "partStart = 0, partEnd = 4, partTotal = 100",
        "partStart = 5, partEnd = 4, partTotal = -1",
    ]

    private static let ofParts = [
        "partStart = NULL, partEnd = NULL, partTotal = NULL", "partStart = NULL", "partEnd = NULL", "partTotal = NULL",
        "partStart = NULL, partEnd = NULL", "partStart = 'a', partEnd = 'a', partTotal = 'a'", "partStart = 'a'",
        "partStart = 11", "partEnd = 15", "partStart = 9, partEnd = 13", "partTotal = 99",
        "partStart = 10, partEnd = 13, bodySize = 3",
    ]

    private static let ofWholes = ["partStart = 0", "partEnd = 4", "partTotal = 4"]

    private static let changes: [(String, Bool)] =
        (ofAny + ofParts).map { ($0, true) } + (ofAny + ofWholes).map { ($0, false) }

    /// The rest of the index is unchanged, so SQLite does not notice.
    @Test(arguments: changes)
    func aColumnThatHasChangedIsDamage(change: String, isPart: Bool) async throws {
        try await withCacheFolder { folder in
            let stored = try await addSealed(to: folder, isPart: isPart)
            try await sqlite(folder, "UPDATE entry SET \(change)")
            let store = try DiskCacheStore(at: folder)
            for key in [stored.key.description, stored.key.description + "b"] {
                #expect(try await store.responses(for: CacheKey(description: key)).isEmpty)
            }
            #expect(try await sqlite(folder, "SELECT count(*) FROM entry") == "0")
            #expect(names(in: folder.appending(path: "bodies")).isEmpty)
            #expect(await store.statistics().failures == 1)
            #expect(await store.statistics().count == 0)
        }
    }

    /// A response that is confirmed by its server, and gets a new seal.
    @Test(arguments: [false, true]) func anUpdateSealsNoDamage(isDamaged: Bool) async throws {
        try await withCacheFolder { folder in
            var stored = try await addSealed(to: folder, isPart: true)
            if isDamaged {
                try await sqlite(folder, "UPDATE entry SET partStart = NULL, partEnd = NULL, partTotal = NULL")
            }
            stored.head.headerFields[.eTag] = "two"
            let store = try DiskCacheStore(at: folder)
            try await store.update(stored)
            #expect(try await store.responses(for: stored.key) == (isDamaged ? [] : [stored]))
            #expect(await store.statistics().failures == (isDamaged ? 1 : 0))
            #expect(names(in: folder.appending(path: "bodies")).count == (isDamaged ? 0 : 1))
        }
    }

    @Test func anIndexOfAnotherVersionIsSetAside() async throws {
        try await withCacheFolder { folder in
            try await add(Data("old".utf8), to: try DiskCacheStore(at: folder))
            try await sqlite(folder, "PRAGMA user_version = 1")
            let store = try DiskCacheStore(at: folder)
            #expect(try await body(in: store) == nil)
            #expect(names(in: folder).contains("index.sqlite.damaged"))
            #expect(names(in: folder.appending(path: "bodies")).isEmpty)
            try await add(Data("new".utf8), to: store)
            #expect(try await body(in: store) == Data("new".utf8))
            #expect(await store.statistics().failures == 0)
        }
    }
}
