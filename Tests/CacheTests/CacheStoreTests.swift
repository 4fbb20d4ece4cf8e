import FoundationEssentials
import HTTPTypes
import LinnetDiskCache
import Testing

@testable import LinnetCache

@Suite(.timeLimit(.minutes(1)))
struct CacheStoreTests {
    @Test(arguments: StoreKind.allCases) func anEntryBecomesVisibleWhenItIsCommitted(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let key = try key()
            let writer = try await store.beginEntry(try entry(), replacing: [])
            try await writer.append(Data("ab".utf8))
            #expect(try await store.responses(for: key).isEmpty)
            try await writer.append(Data("cd".utf8))
            let stored = try await writer.commit()
            #expect(stored.bodySize == 4)
            #expect(stored.part == nil)
            #expect(try await store.responses(for: key) == [stored])
            let body = try #require(try await store.body(of: stored.id))
            #expect(try await body.bytes(in: 0..<4) == Data("abcd".utf8))
            #expect(try await body.bytes(in: 1..<3) == Data("bc".utf8))
            await #expect(throws: CacheError.self) { _ = try await body.bytes(in: 1..<5) }
            let statistics = await store.statistics()
            #expect(statistics.count == 1)
            #expect(statistics.bytes == stored.size)
        }
    }

    @Test(arguments: StoreKind.allCases) func anAbandonedEntryLeavesNothing(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let writer = try await store.beginEntry(try entry(), replacing: [])
            try await writer.append(Data(count: 100))
            await writer.abandon()
            await expect(.entryRemoved) { _ = try await writer.commit() }
            await expect(.entryRemoved) { try await writer.append(Data()) }
            var other: (any CacheEntryWriter)? = try await store.beginEntry(try entry(), replacing: [])
            try await other?.append(Data(count: 100))
            other = nil
            #expect(try await store.responses(for: try key()).isEmpty)
            #expect(await store.statistics() == CacheStatistics())
        }
    }

    @Test(arguments: StoreKind.allCases) func anEntryIsCommittedOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let writer = try await store.beginEntry(try entry(), replacing: [])
            _ = try await writer.commit()
            await expect(.entryRemoved) { _ = try await writer.commit() }
            #expect(await store.statistics().count == 1)
        }
    }

    /// RFC 9111, section 3.3.
    @Test(arguments: StoreKind.allCases) func theBeginningOfABodyIsAPart(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let writer = try await store.beginEntry(try entry(), replacing: [])
            try await writer.append(Data(count: 40))
            let stored = try await writer.commit(asFirstOf: 100)
            #expect(stored.part == StoredResponse.Part(range: 0..<40, total: 100))
            #expect(try await store.responses(for: try key()) == [stored])
        }
    }

    @Test func aHitCopiesNoBytes() async throws {
        let store = MemoryCacheStore()
        let stored = try await add(store, size: 100_000)
        var addresses: Set<UInt> = []
        for _ in 0..<2 {
            let body = try #require(try await store.body(of: stored.id))
            let whole = try await body.bytes(in: 0..<100_000)
            let part = try await body.bytes(in: 1000..<50_000)
            addresses.insert(whole.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) })
            addresses.insert(part.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) - 1000 })
        }
        #expect(addresses.count == 1)
    }

    @Test(arguments: StoreKind.allCases) func aCommitReplacesTheEntryOfTheSameVariant(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let first = try await add(store, vary: "1")
            let other = try await add(store, vary: "2")
            let second = try await add(store, vary: "1")
            #expect(try await store.responses(for: try key()).map(\.id).sorted() == [other.id, second.id].sorted())
            #expect(try await store.body(of: first.id) == nil)
            let third = try await add(store, vary: "3", replacing: [other.id, second.id, first.id])
            #expect(try await store.responses(for: try key()).map(\.id) == [third.id])
            #expect(await store.statistics().evictions == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func anUpdateKeepsTheBody(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var stored = try await add(store, size: 10)
            let before = await store.statistics().bytes
            stored.head.headerFields[.contentType] = "text/plain"
            stored.bodySize = 999
            stored.responseTime = at(50)
            try await store.update(stored)
            let updated = try #require(try await store.responses(for: try key()).first)
            #expect(updated.head.headerFields[.contentType] == "text/plain")
            #expect(updated.responseTime == at(50))
            #expect(updated.bodySize == 10)
            #expect(await store.statistics().bytes == before + Int64("Content-Type".count + "text/plain".count + 64))
            try await store.remove([stored.id])
            try await store.update(stored)
            #expect(await store.statistics().count == 0)
            #expect(await store.statistics().bytes == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func theLeastRecentlyUsedEntryIsRemovedFirst(kind: StoreKind) async throws {
        let one = try entry("https://example.com/1").size + 1000
        try await kind.withStore(limit: 3 * one, entryLimit: one) { store in
            var all: [StoredResponse] = []
            for index in 1...3 { all.append(try await add(store, "https://example.com/\(index)", size: 1000)) }
            _ = try await store.body(of: all[0].id)
            all.append(try await add(store, "https://example.com/4", size: 1000))
            #expect(try await present(all, in: store) == [true, false, true, true])
            // Listing the responses of a key is no use of them.
            _ = try await store.responses(for: all[2].key)
            all.append(try await add(store, "https://example.com/5", size: 1000))
            #expect(try await present(all, in: store) == [true, false, false, true, true])
            #expect(await store.statistics().evictions == 2)
            #expect(await store.statistics().bytes == 3 * one)
        }
    }

    @Test(arguments: StoreKind.allCases) func anEntryHasATwentiethOfTheSpace(kind: StoreKind) async throws {
        try await kind.withStore(limit: 100_000) { store in
            let head = try entry().size
            let fits = try await store.beginEntry(try entry(), replacing: [])
            try await fits.append(Data(count: 5000 - Int(head)))
            _ = try await fits.commit()
            let writer = try await store.beginEntry(try entry(), replacing: [])
            try await writer.append(Data(count: 5000 - Int(head)))
            await expect(.entryTooLarge) { try await writer.append(Data(count: 1)) }
            await expect(.entryRemoved) { _ = try await writer.commit() }
            #expect(await store.statistics().count == 1)
            var large = try entry()
            large.head.headerFields[.contentLength] = "5000"
            await expect(.entryTooLarge) { [large] in _ = try await store.beginEntry(large, replacing: []) }
            large.head.headerFields[.contentLength] = "99999999999999999999999999"
            await expect(.entryTooLarge) { [large] in _ = try await store.beginEntry(large, replacing: []) }
            // As long as there is space, and one byte more.
            large.head.headerFields[.contentLength] = "1000"
            let rest = 5000 - large.size
            large.head.headerFields[.contentLength] = "\(rest)"
            _ = try await store.beginEntry(large, replacing: [])
            large.head.headerFields[.contentLength] = "\(rest + 1)"
            await expect(.entryTooLarge) { [large] in _ = try await store.beginEntry(large, replacing: []) }
        }
    }

    @Test(arguments: StoreKind.allCases, [0, -1, 1000] as [Int64])
    func aStoreWithoutSpaceRefusesAll(kind: StoreKind, limit: Int64) async throws {
        try await kind.withStore(limit: limit) { store in
            let entry = try entry()
            await expect(.entryTooLarge) { _ = try await store.beginEntry(entry, replacing: []) }
        }
    }

    @Test(arguments: StoreKind.allCases) func aHeadThatGrowsTooLargeIsRemoved(kind: StoreKind) async throws {
        try await kind.withStore(limit: 20_000) { store in
            var stored = try await add(store)
            stored.head.headerFields[.contentType] = ""
            let rest = Int(1000 - stored.size)
            stored.head.headerFields[.contentType] = String(repeating: "x", count: rest)
            try await store.update(stored)
            #expect(await store.statistics().bytes == 1000)
            stored.head.headerFields[.contentType] = String(repeating: "x", count: rest + 1)
            try await store.update(stored)
            #expect(await store.statistics().count == 0)
            #expect(await store.statistics().bytes == 0)
        }
    }

    /// RFC 9111, section 4.4: an invalidation also ends entries that were begun before it.
    @Test(arguments: StoreKind.allCases, [true, false])
    func anEntryOfARemovedKeyIsNotCommitted(kind: StoreKind, all: Bool) async throws {
        try await kind.withStore { store in
            let stored = try await add(store)
            let writer = try await store.beginEntry(try entry(), replacing: [])
            let other = try await store.beginEntry(try entry("https://example.com/other"), replacing: [])
            if all { try await store.removeAll() } else { try await store.removeAll(for: [try key()]) }
            #expect(try await store.body(of: stored.id) == nil)
            await expect(.entryRemoved) { try await writer.append(Data(count: 1)) }
            await expect(.entryRemoved) { _ = try await writer.commit() }
            if all {
                await expect(.entryRemoved) { _ = try await other.commit() }
            } else {
                _ = try await other.commit()
            }
            #expect(await store.statistics().count == (all ? 0 : 1))
        }
    }

    @Test(arguments: StoreKind.allCases) func anOpenBodyOutlivesItsEntry(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let stored = try await add(store, size: 10)
            let body = try #require(try await store.body(of: stored.id))
            try await store.removeAll()
            #expect(try await body.bytes(in: 0..<10).count == 10)
        }
    }

    /// The variant that was not used for the longest time is removed for the thirty-third.
    @Test(arguments: StoreKind.allCases) func aKeyHasAtMostThirtyTwoVariants(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var all: [StoredResponse] = []
            for number in 0..<32 { all.append(try await add(store, vary: "\(number)", size: 1)) }
            #expect(await store.statistics().evictions == 0)
            _ = try await store.body(of: all[0].id)
            all.append(try await add(store, vary: "32", size: 1))
            #expect(try await present(all, in: store) == all.indices.map { $0 != 1 })
            #expect(await store.statistics().evictions == 1)
            #expect(await store.statistics().count == 32)
        }
    }

    /// The bodies are freed after unlocking, so the machine returns them.
    @Test func theBodiesOfRemovedEntriesAreReturned() throws {
        let one = try entry().size + 1000
        var machine = MemoryCacheMachine(limit: 2 * one, entryLimit: one)
        func commit(_ entry: StoredResponse) throws -> [Data] {
            var entry = entry
            let id = machine.begin(entry, expecting: 1000)
            entry.id = try #require(id)
            entry.bodySize = 1000
            return machine.commit(entry, body: Data(count: 1000), replacing: []).dropped
        }
        #expect(try commit(entry("https://example.com/1")).isEmpty)
        #expect(try commit(entry("https://example.com/2")).isEmpty)
        #expect(try commit(entry("https://example.com/3")) == [Data(count: 1000)])
        machine = MemoryCacheMachine(limit: 1 << 20, entryLimit: 1 << 16)
        for number in 0..<32 { #expect(try commit(entry(vary: "\(number)")).isEmpty) }
        #expect(try commit(entry(vary: "32")) == [Data(count: 1000)])
    }

    /// An abandoned entry leaves no trace in the store either.
    @Test func theStoreForgetsAnAbandonedEntry() async throws {
        let store = MemoryCacheStore()
        let begun = try await store.beginEntry(try entry(), replacing: [])
        let other = try await store.beginEntry(try entry("https://example.com/other"), replacing: []).commit()
        // The store numbers entries in order.
        let id = StoredResponse.ID(rawValue: other.id.rawValue - 1)
        try store.check(id, size: 0)
        await begun.abandon()
        #expect { try store.check(id, size: 0) } throws: { ($0 as? CacheError)?.code == .entryRemoved }
    }

    @Test func outcomesAreCounted() async {
        let store = MemoryCacheStore()
        #expect(await store.statistics().failures == 0)
        for outcome in [CacheStatistics.Outcome.hit, .hit, .stale, .revalidated, .miss, .miss, .bypass] {
            store.record(outcome)
        }
        let statistics = await store.statistics()
        #expect(statistics.hits == 3)
        #expect(statistics.staleHits == 1)
        #expect(statistics.revalidations == 1)
        #expect(statistics.misses == 2)
        #expect(statistics.bypasses == 1)
    }

    @Test(arguments: StoreKind.allCases) func manyTasksUseOneStore(kind: StoreKind) async throws {
        try await kind.withStore(limit: 200_000, entryLimit: 20_000) { store in
            let entries = try (0..<50).map { try entry("https://example.com/\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for (index, entry) in entries.enumerated() {
                            let byte = UInt8(index)
                            let writer = try await store.beginEntry(entry, replacing: [])
                            // Other tasks remove every second key.
                            do throws(CacheError) {
                                try await writer.append(Data(repeating: byte, count: 5000))
                                if index % 2 == 0, (index + task) % 7 == 0 {
                                    try await store.removeAll(for: [entry.key])
                                }
                                _ = try await writer.commit()
                            } catch {
                                #expect(error.code == .entryRemoved)
                            }
                            for response in try await store.responses(for: entry.key) {
                                guard let body = try await store.body(of: response.id) else { continue }
                                #expect(try await body.bytes(in: 0..<5000).allSatisfy { $0 == byte })
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let statistics = await store.statistics()
            #expect(statistics.bytes <= 200_000)
            #expect(statistics.count > 0)
            try await store.removeAll()
            #expect(await store.statistics().bytes == 0)
        }
    }

    // MARK: Support

    private func entry(_ text: String = url, vary: String? = nil) throws -> StoredResponse {
        let fields = vary.map { "A: \($0)" } ?? ""
        return try #require(
            CacheRules().entry(
                for: response(vary == nil ? "" : "Vary: A"), to: request(fields), key: try key(text),
                requestTime: at(0),
                responseTime: at(0)))
    }

    private func add(
        _ store: any CacheStore, _ text: String = url, vary: String? = nil, size: Int = 0,
        replacing: [StoredResponse.ID] = []
    ) async throws -> StoredResponse {
        let writer = try await store.beginEntry(try entry(text, vary: vary), replacing: replacing)
        try await writer.append(Data(count: size))
        return try await writer.commit()
    }

    private func present(_ all: [StoredResponse], in store: any CacheStore) async throws -> [Bool] {
        var present: [Bool] = []
        for response in all {
            present.append(try await store.responses(for: response.key).contains { $0.id == response.id })
        }
        return present
    }

    private func expect(
        _ code: CacheError.Code, location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("Nothing was thrown.", sourceLocation: location)
        } catch {
            #expect((error as? CacheError)?.code == code, sourceLocation: location)
        }
    }
}

extension [StoredResponse.ID] {
    fileprivate func sorted() -> [StoredResponse.ID] { sorted { $0.rawValue < $1.rawValue } }
}
