import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetDiskCache
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite(.timeLimit(.minutes(2)))
struct DiskCacheStoreTests {
    @Test func anEntryIsThereWhenTheDirectoryIsOpenedAgain() async throws {
        try await withCacheFolder { folder in
            let data = bytes(100_000)
            let writer: any CacheEntryWriter
            var response = try entry()
            response.head = HTTPResponse(
                status: HTTPResponse.Status(code: 203, reasonPhrase: "Other"),
                headerFields: [.eTag: #""1""#, .contentType: "text/plain", .setCookie: "a=1"])
            response.head.headerFields.append(HTTPField(name: .setCookie, lenientValue: [0xFF, 0x62]))
            let first = try DiskCacheStore(at: folder)
            writer = try await first.beginEntry(response, replacing: [])
            for start in stride(from: 0, to: data.count, by: 7000) {
                try await writer.append(data[start..<min(start + 7000, data.count)])
            }
            let stored = try await writer.commit()
            let store = try DiskCacheStore(at: folder)
            let found = try #require(try await store.responses(for: response.key).first)
            #expect(found == stored)
            #expect(found.head == response.head)
            #expect(found.head.status.reasonPhrase == "Other")
            #expect(
                found.head.headerFields[fields: .setCookie].map { $0.withUnsafeBytesOfValue { Array($0) } }
                    == [Array("a=1".utf8), [0xFF, 0x62]])
            #expect(found.requestTime == response.requestTime && found.responseTime == response.responseTime)
            #expect(try await body(in: store) == data)
            #expect(await store.statistics().bytes == stored.size)
            #expect(await store.statistics().count == 1)
            #expect(await store.statistics().failures == 0)
        }
    }

    @Test func twoStoresShareADirectory() async throws {
        try await withCacheFolder { folder in
            let (one, other) = (try DiskCacheStore(at: folder), try DiskCacheStore(at: folder))
            try await add(Data("one".utf8), to: one)
            #expect(try await body(in: other) == Data("one".utf8))
            try await add(Data("other".utf8), to: other)
            #expect(try await body(in: one) == Data("other".utf8))
            #expect(await one.statistics().count == 1)
            // An invalidation in one process ends another's unfinished entry.
            let writer = try await one.beginEntry(try entry(), replacing: [])
            try await other.removeAll(for: [try entry().key])
            await expect(.entryRemoved) { _ = try await writer.commit() }
            #expect(try await body(in: one) == nil)
            #expect(names(in: folder.appending(path: "bodies")).isEmpty)
        }
    }

    @Test func onlyTheOwnerCanReadTheFiles() async throws {
        try await withCacheFolder { folder in
            let parent = folder.appending(path: "new")
            let store = try DiskCacheStore(at: parent.appending(path: "cache"))
            try await add(Data("a".utf8), to: store)
            var folders = 0
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
                var status = stat()
                try #require(lstat(folder.path + "/" + path, &status) == 0)
                let isFolder = status.st_mode & S_IFMT == S_IFDIR
                folders += isFolder ? 1 : 0
                #expect(status.st_mode & 0o777 == (isFolder ? 0o700 : 0o600), "\(path)")
            }
            #expect(folders == 3)
        }
    }

    /// A use is written with the next change, and so counts in a store that is opened later.
    @Test func theOrderOfUseOutlivesAStore() async throws {
        try await withCacheFolder { folder in
            let one = try entry("/1").size + 1000
            let first = try DiskCacheStore(at: folder, limit: 3 * one, entryLimit: one)
            for index in 1...2 { try await add(bytes(1000), "/\(index)", to: first) }
            #expect(try await body("/1", in: first) != nil)
            try await add(bytes(1000), "/3", to: first)
            let second = try DiskCacheStore(at: folder, limit: 3 * one, entryLimit: one)
            try await add(bytes(1000), "/4", to: second)
            #expect(try await body("/2", in: second) == nil)
            #expect(try await body("/1", in: second) != nil)
            #expect(await second.statistics().evictions == 1)
            #expect(names(in: folder.appending(path: "bodies")).count == 3)
        }
    }

    @Test func aSmallerLimitRemovesExcessEntries() async throws {
        try await withCacheFolder { folder in
            let first = try DiskCacheStore(at: folder)
            for index in 1...10 { try await add(bytes(10_000), "/\(index)", to: first) }
            let second = try DiskCacheStore(at: folder, limit: 50_000)
            #expect(await second.statistics().bytes <= 50_000)
            #expect(await second.statistics().count == 4)
            #expect(names(in: folder.appending(path: "bodies")).count == 4)
        }
    }

    @Test func aLargeBodyIsReadInPieces() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder, limit: 100 << 20, entryLimit: 50 << 20)
            let data = bytes(3 << 20)
            let stored = try await add(data, to: store)
            let body = try #require(try await store.body(of: stored.id))
            #expect(try await body.bytes(in: 1000..<2_000_000) == data[1000..<2_000_000])
            await expect(.rangeNotStored) { _ = try await body.bytes(in: 0..<body.size + 1) }
            try await store.removeAll()
            // An open body outlives its entry.
            #expect(try await body.bytes(in: 0..<body.size) == data)
            #expect(names(in: folder.appending(path: "bodies")).isEmpty)
        }
    }

    /// The head of an entry, as the link of a session writes one for a part of a body.
    @Test func aPartIsReadBack() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            var response = try entry()
            response.part = StoredResponse.Part(range: 10..<14, total: 100)
            let writer = try await store.beginEntry(response, replacing: [])
            try await writer.append(Data("abcd".utf8))
            let stored = try await writer.commit()
            let again = try DiskCacheStore(at: folder)
            #expect(try await again.responses(for: response.key) == [stored])
            #expect(stored.part == response.part)
        }
    }

    @Test func aReleasedWriterLeavesNoFile() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            var writer: (any CacheEntryWriter)? = try await store.beginEntry(try entry(), replacing: [])
            try await writer?.append(bytes(200_000))
            #expect(names(in: folder.appending(path: "bodies")).count == 1)
            writer = nil
            #expect(names(in: folder.appending(path: "bodies")).isEmpty)
            #expect(await store.statistics().count == 0)
        }
    }
}
