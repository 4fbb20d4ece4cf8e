import CommandSupport
import FoundationEssentials
import LinnetCache
import LinnetDiskCache
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Directories in which others have written.
@Suite(.timeLimit(.minutes(3)))
struct DamageTests {
    enum Damage: CaseIterable {
        case cut, grown, changed, missing, link, folder
    }

    @Test(arguments: Damage.allCases, [1000, 3 << 20])
    func aDamagedBodyIsAMissAndIsRemoved(_ damage: Damage, size: Int) async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder, limit: 100 << 20)
            try await add(bytes(size), to: store)
            let name = try #require(names(in: folder.appending(path: "bodies")).first)
            let file = folder.appending(path: "bodies/\(name)")
            var data = try Data(contentsOf: file)
            switch damage {
            case .cut: try data.dropLast(1).write(to: file)
            case .grown: try (data + [0]).write(to: file)
            case .changed:
                data[size / 2] ^= 1
                try data.write(to: file)
            case .missing: try FileManager.default.removeItem(at: file)
            case .link:
                let other = folder.appending(path: "other")
                try FileManager.default.moveItem(at: file, to: other)
                try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
            case .folder:
                try FileManager.default.removeItem(at: file)
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            }
            let isReadable = damage != .folder
            #expect(try await isReadable ? body(in: store) == nil : (try? body(in: store)) == nil)
            #expect(await store.statistics().failures == 1)
            if isReadable { #expect(await store.statistics().count == 0) }
            try await add(Data("new".utf8), to: store)
            #expect(try await body(in: store) == Data("new".utf8))
        }
    }

    /// A body that was verified and changes afterwards.
    @Test func aLargeBodyThatChangesLaterIsAMiss() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder, limit: 100 << 20)
            let data = bytes(3 << 20)
            try await add(data, to: store)
            #expect(try await body(in: store) == data)
            let name = try #require(names(in: folder.appending(path: "bodies")).first)
            var other = data
            other[7] ^= 1
            try other.write(to: folder.appending(path: "bodies/\(name)"))
            #expect(try await body(in: store) == nil)
        }
    }

    @Test(arguments: ["", "no database at all", "SQLite format 3\0 and then nothing that SQLite knows"])
    func aFileOtherThanAnIndexIsSetAside(text: String) async throws {
        try await withCacheFolder { folder in
            try await add(Data("old".utf8), to: try DiskCacheStore(at: folder))
            for name in ["index.sqlite-wal", "index.sqlite-shm"] {
                try? FileManager.default.removeItem(at: folder.appending(path: name))
            }
            try Data((text + String(repeating: "x", count: text.isEmpty ? 0 : 5000)).utf8)
                .write(to: folder.appending(path: "index.sqlite"))
            let store = try DiskCacheStore(at: folder)
            #expect(try await body(in: store) == nil)
            #expect(names(in: folder).contains("index.sqlite.damaged") == !text.isEmpty)
            #expect(names(in: folder.appending(path: "bodies")).isEmpty)
            try await add(Data("new".utf8), to: store)
            #expect(try await body(in: store) == Data("new".utf8))
        }
    }

    /// Even a database of another program.
    @Test func anotherDatabaseIsSetAside() async throws {
        try await withCacheFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            chmod(folder.path, 0o700)
            let index = folder.appending(path: "index.sqlite").path
            try await Command.sqlite(index, "CREATE TABLE entry (id TEXT); INSERT INTO entry VALUES ('a')")
            let store = try DiskCacheStore(at: folder)
            try await add(Data("new".utf8), to: store)
            #expect(try await body(in: store) == Data("new".utf8))
            #expect(names(in: folder).contains("index.sqlite.damaged"))
        }
    }

    /// A store that is in use when its index is damaged, or its directory removed.
    @Test(arguments: [true, false]) func aStoreWorksAfterItsFilesWereRemoved(isRemoved: Bool) async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            try await add(Data("old".utf8), to: store)
            let writer = try await store.beginEntry(try entry("/b"), replacing: [])
            try await writer.append(bytes(100_000))
            if isRemoved {
                try FileManager.default.removeItem(at: folder)
            } else {
                // The log alone would be enough for SQLite.
                for name in names(in: folder) where name.hasPrefix("index") {
                    try FileManager.default.removeItem(at: folder.appending(path: name))
                }
                try Data(repeating: 7, count: 20_000).write(to: folder.appending(path: "index.sqlite"))
            }
            await expect(.entryRemoved) { _ = try await writer.commit() }
            try await add(Data("new".utf8), "/c", to: store)
            #expect(try await body("/c", in: store) == Data("new".utf8))
            #expect(try await body(in: store) == nil)
            #expect(await store.statistics().count == 1)
        }
    }

    @Test func aDirectoryOfBodiesThatIsRemovedIsMadeAgain() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            try await add(Data("old".utf8), to: store)
            try FileManager.default.removeItem(at: folder.appending(path: "bodies"))
            #expect(try await body(in: store) == nil)
            await expect(.storageFailed) { try await add(Data("new".utf8), to: store) }
            try await add(Data("new".utf8), to: store)
            #expect(try await body(in: store) == Data("new".utf8))
            #expect(await store.statistics().failures == 2)
        }
    }

    /// Random bytes change in all files: found bodies still equal the stored ones.
    @Test func noWrongBodyComesOutOfRandomDamage() async throws {
        let seed = RandomSeed.next()
        var random = SplitMix(seed: seed)
        var found = 0
        for round in 0..<40 {
            try await withCacheFolder { folder in
                let bodies = (0..<8).map { bytes(3000, seed: UInt64($0)) }
                let original = try DiskCacheStore(at: folder)
                for (index, data) in bodies.enumerated() { try await add(data, "/\(index)", to: original) }
                // A copy of the files while they are in use, as a process leaves them that is killed.
                try await withCacheFolder { copy in
                    try FileManager.default.copyItem(at: folder, to: copy)
                    try damageFiles(in: copy, &random)
                    let store = try DiskCacheStore(at: copy)
                    for (index, data) in bodies.enumerated() {
                        // An error comes from the store, and is a miss.
                        guard let read = try? await body("/\(index)", in: store) else { continue }
                        #expect(read == data, "seed \(seed), round \(round)")
                        found += 1
                    }
                    for (index, data) in bodies.enumerated() { _ = try? await add(data, "/\(index)", to: store) }
                    let last = try await body("/7", in: store)
                    #expect(last == bodies[7], "seed \(seed), round \(round)")
                }
            }
        }
        #expect(found > 0)
    }

    private func damageFiles(in folder: URL, _ random: inout SplitMix) throws {
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() {
            let file = folder.appending(path: path)
            guard Int.random(in: 0..<3, using: &random) == 0, let data = try? Data(contentsOf: file), !data.isEmpty
            else { continue }
            try damaged(data, &random).write(to: file)
        }
    }

    private func damaged(_ data: Data, _ random: inout SplitMix) -> Data {
        var data = data
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return data.prefix(Int.random(in: 0..<data.count, using: &random))
        case 1: return data + bytes(100)
        default:
            for _ in 0..<20 {
                data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            return data
        }
    }

    @Test func otherFilesInTheDirectoryStay() async throws {
        try await withCacheFolder { folder in
            let first = try DiskCacheStore(at: folder)
            try await add(Data("a".utf8), to: first)
            let garbage = ["0123456789abcdef", "00000000000000ff.new", "0123456789ABCDEF", "notes.txt", "..name"]
            for name in garbage { try Data("x".utf8).write(to: folder.appending(path: "bodies/\(name)")) }
            let second = try DiskCacheStore(at: folder)
            #expect(try await body(in: second) == Data("a".utf8))
            let left = names(in: folder.appending(path: "bodies"))
            #expect(left.filter { garbage.contains($0) } == ["..name", "0123456789ABCDEF", "notes.txt"])
            #expect(left.count == 4)
        }
    }
}
