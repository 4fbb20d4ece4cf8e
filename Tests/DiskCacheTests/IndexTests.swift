import FoundationEssentials
import HTTPTypes
import LinnetCache
import Testing

@testable import LinnetDiskCache

/// The contents of the index file.
@Suite(.timeLimit(.minutes(1)))
struct IndexTests {
    private func entry(_ fields: HTTPFields, vary: String) throws -> StoredResponse {
        var response = try DiskCacheTests.entry(fields: [.vary: vary])
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "example.com", path: "/a", headerFields: fields)
        response.variant = try #require(StoredResponse.Variant(of: response.head, to: request))
        return response
    }

    @Test(arguments: [HTTPField.Name.authorization, .cookie, .proxyAuthorization])
    func aResponseThatDependsOnCredentialsIsNotStored(name: HTTPField.Name) async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            let secret = try entry([name: "secret"], vary: name.rawName)
            await expect(.dependsOnCredentials) { _ = try await store.beginEntry(secret, replacing: []) }
            // One to a request without the field has no credentials.
            let stored = try await store.beginEntry(try entry([:], vary: name.rawName), replacing: []).commit()
            #expect(try await store.responses(for: stored.key) == [stored])
            var updated = stored
            updated.variant = secret.variant
            try await store.update(updated)
            #expect(try await store.responses(for: stored.key).isEmpty)
            #expect(await store.statistics().failures == 0)
        }
    }

    @Test func removedEntriesAreOverwritten() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            try await add(Data("a".utf8), "/a-secret-path", to: store)
            try Data("secret".utf8).write(to: folder.appending(path: "index.sqlite.damaged"))
            try await store.removeAll()
            #expect(!names(in: folder).contains("index.sqlite.damaged"))
            for name in names(in: folder) where name.hasPrefix("index") {
                let data = try Data(contentsOf: folder.appending(path: name))
                #expect(data.firstRange(of: Data("secret".utf8)) == nil, "\(name)")
            }
        }
    }

    @Test func abandonedEntriesTakeNoSpace() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            for _ in 0..<20 {
                let large = try DiskCacheTests.entry(fields: [.eTag: String(repeating: "x", count: 1000)])
                try await store.beginEntry(large, replacing: []).abandon()
            }
            #expect(try await sqlite(folder, "SELECT count(*), max(length(head)) FROM entry") == "1|0")
        }
    }

    @Test func theMemoryKeepsTheLastBodiesWithinItsLimit() {
        var memory = DiskCacheMachine(memoryLimit: 100).memory
        let ids = (1...25).map { StoredResponse.ID(rawValue: $0) }
        // A body may take a twentieth.
        memory.insert(Data(repeating: 0, count: 6), of: ids[0])
        var body = memory.use(ids[0])
        #expect(body == nil)
        for id in ids.dropFirst().prefix(20) { memory.insert(Data(repeating: 1, count: 5), of: id) }
        body = memory.use(ids[1])
        #expect(body?.count == 5)
        memory.insert(Data(repeating: 2, count: 5), of: ids[21])
        let kept = ids.filter { memory.use($0) != nil }
        #expect(kept == [ids[1]] + ids[3...21])
    }

    @Test func notesOfAFailedTransactionAreKept() {
        var machine = DiskCacheMachine(memoryLimit: 0)
        let ids = (1...2).map { StoredResponse.ID(rawValue: $0) }
        machine.begin(ids[0], CacheKey(description: "a"))
        machine.abandon(ids[0])
        _ = machine.use(ids[1])
        let (notes, time) = machine.takeNotes(after: .max / 2)
        #expect(time == .max / 2 + 1)
        machine.putBack(notes)
        let again = machine.takeNotes(after: 0).notes
        #expect(again.abandoned == [ids[0]] && again.uses.keys.map(\.self) == [ids[1]])
        #expect(machine.takeNotes(after: 0).notes.uses.isEmpty)
    }

    /// Another process that ends removes the log only if it is the last one with the index.
    @Test func aSecondStoreKeepsTheLocksOfTheFirst() async throws {
        try await withCacheFolder { folder in
            let first = try DiskCacheStore(at: folder)
            try await add(Data("a".utf8), to: first)
            let second = try DiskCacheStore(at: folder)
            #expect(try await body(in: second) == Data("a".utf8))
            #expect(try await sqlite(folder, "SELECT count(*) FROM entry") == "1")
            #expect(names(in: folder).contains("index.sqlite-wal"))
        }
    }

    /// The clock was a year ahead when the cache became full.
    @Test func entriesAreStoredAfterTheClockWasPutBack() async throws {
        try await withCacheFolder { folder in
            let one = try DiskCacheTests.entry("/1").size + 1000
            let first = try DiskCacheStore(at: folder, limit: 3 * one, entryLimit: one)
            for index in 1...3 { try await add(bytes(1000), "/\(index)", to: first) }
            try await sqlite(folder, "UPDATE entry SET used = used + 31536000000000")
            // In the open store, and in one that is opened later.
            let second = try DiskCacheStore(at: folder, limit: 3 * one, entryLimit: one)
            for (index, store) in [first, second].enumerated() {
                try await add(bytes(1000), "/\(index + 5)", to: store)
                #expect(try await body("/\(index + 5)", in: store) != nil)
            }
            #expect(try await body("/3", in: second) != nil)
            try await add(bytes(1000), "/7", to: second)
            #expect(try await body("/3", in: second) != nil)
            #expect(try await body("/5", in: second) == nil)
        }
    }

    @Test(arguments: ["9223372036854775807", "-1", "576460752303423488"])
    func anImpossibleSizeIsDamage(size: String) async throws {
        try await withCacheFolder { folder in
            try await add(Data("a".utf8), to: try DiskCacheStore(at: folder))
            try await add(Data("b".utf8), "/b", to: try DiskCacheStore(at: folder))
            try await sqlite(folder, "UPDATE entry SET bodySize = \(size) WHERE key LIKE '%/a'")
            let store = try DiskCacheStore(at: folder)
            #expect(try await body(in: store) == nil)
            #expect(try await body("/b", in: store) == Data("b".utf8))
        }
    }

    @Test(arguments: [
        "UPDATE total SET count = 9, size = -1000000000", "DELETE FROM total", "UPDATE total SET size = 1e30",
    ])
    func theSizeOfAllEntriesIsCountedAgain(damage: String) async throws {
        try await withCacheFolder { folder in
            try await add(Data("a".utf8), to: try DiskCacheStore(at: folder))
            try await sqlite(folder, damage)
            let store = try DiskCacheStore(at: folder)
            // An index without a valid total is created anew.
            let isKept = (try? await body(in: store)) == Data("a".utf8)
            #expect(isKept == damage.contains("-1"))
            let stored = try await add(Data("b".utf8), "/b", to: store)
            let statistics = await store.statistics()
            #expect(statistics.count == (isKept ? 2 : 1))
            #expect(statistics.bytes == (isKept ? 2 : 1) * stored.size)
        }
    }

    @Test func aCancelledReadIsNoFailure() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            let key = try DiskCacheTests.entry().key
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await store.responses(for: key)
            }
            await expect(.storageFailed) { _ = try await task.value }
            #expect(await store.statistics().failures == 0)
        }
    }
}
