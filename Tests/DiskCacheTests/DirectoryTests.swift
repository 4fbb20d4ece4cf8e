import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetDiskCache
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Directories that a cache does not use, or cannot.
@Suite(.timeLimit(.minutes(3)))
struct DirectoryTests {
    @Test(arguments: [0o770, 0o702, 0o777] as [mode_t])
    func aDirectoryThatOthersCanWriteIsRefused(mode: mode_t) async throws {
        try await withCacheFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            chmod(folder.path, mode)
            await expect(.untrustedDirectory) { _ = try DiskCacheStore(at: folder) }
            chmod(folder.path, 0o755)
            let store = try DiskCacheStore(at: folder)
            try await add(Data("a".utf8), to: store)
            // Even a directory that is opened to others later.
            chmod(folder.path, mode)
            await expect(.untrustedDirectory) { _ = try DiskCacheStore(at: folder) }
        }
    }

    @Test func aLinkAFileAndAnotherUsersDirectoryAreRefused() async throws {
        try await withCacheFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            chmod(folder.path, 0o700)
            let link = folder.appending(path: "link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
            await expect(.untrustedDirectory) { _ = try DiskCacheStore(at: link) }
            let file = folder.appending(path: "file")
            try Data().write(to: file)
            await expect(.untrustedDirectory) { _ = try DiskCacheStore(at: file) }
            let url = try #require(URL(string: "https://example.com/cache"))
            await expect(.untrustedDirectory) { _ = try DiskCacheStore(at: url) }
            let foreign = geteuid() == 0 ? folder : URL(filePath: "/")
            if geteuid() == 0 { try #require(chown(folder.path, 1, 1) == 0) }
            await expect(.untrustedDirectory) { _ = try DiskCacheStore(at: foreign) }
        }
    }

    /// Another user's directory replaces the store's directory during its use.
    @Test func aStoreFailsClosedLater() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            try await add(Data("a".utf8), to: store)
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            chmod(folder.path, 0o777)
            await expect(.untrustedDirectory) { try await add(Data("b".utf8), to: store) }
            #expect(names(in: folder).isEmpty)
        }
    }

    @Test func aRequestDoesNotFailWithItsStore() async throws {
        try await withCacheFolder { folder in
            try Data().write(to: folder)
            let store = try DiskCacheStore(at: folder.appending(path: "below/a/file"))
            var configuration = HTTPSession.Configuration()
            configuration.cacheStore = store
            let session = try HTTPSession(
                baseURL: URL(string: "http://example.com"), configuration: configuration,
                transport: StubTransport { _ in
                    .status(.ok, headerFields: [.cacheControl: "max-age=60"], body: Data("abc".utf8))
                })
            for _ in 0..<2 {
                let response = try await session.get("a").response(StringResponseSerializer())
                #expect(response.value == "abc")
                #expect(response.cacheOutcome == .miss)
            }
            let statistics = await store.statistics()
            #expect(statistics.failures >= 4 && statistics.misses == 2 && statistics.count == 0)
            await session.shutdown()
        }
    }

    // MARK: Items in the way

    /// An item of the wrong kind under a name of the cache.
    enum Obstacle: String, CaseIterable, Sendable {
        case file, folder, link, danglingLink, pipe

        func make(at url: URL) throws {
            switch self {
            case .file: try Data("mine".utf8).write(to: url)
            case .folder:
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
                try Data("mine".utf8).write(to: url.appending(path: "file"))
            case .link:
                let target = url.deletingLastPathComponent().appending(path: "target")
                try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
                try Data("mine".utf8).write(to: target.appending(path: "file"))
                try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
            case .danglingLink:
                let target = url.deletingLastPathComponent().appending(path: "nothing")
                try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
            case .pipe: try #require(mkfifo(url.path, 0o600) == 0)
            }
        }
    }

    private static let obstacles =
        Obstacle.allCases.filter { $0 != .folder }.map { ("bodies", $0) }
        + ["index.sqlite", "changes", "lock", "index.sqlite-wal", "index.sqlite-shm"].flatMap { name in
            Obstacle.allCases.filter { $0 != .file }.map { (name, $0) }
        }

    @Test(arguments: obstacles)
    func itemsInTheWayOfTheCacheAreSetAside(name: String, obstacle: Obstacle) async throws {
        try await withCacheFolder { folder in
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let place = folder.appending(path: name)
            // The second time, the name for the item is taken. A directory must not be lost.
            for round in 1...2 {
                try obstacle.make(at: place)
                let store = try DiskCacheStore(at: folder)
                try await add(Data("a\(round)".utf8), to: store)
                #expect(try await body(in: store) == Data("a\(round)".utf8))
                #expect(await store.statistics().failures == 0)
                let left = names(in: folder)
                #expect(left.contains("\(name).damaged"))
                #expect(left.contains("\(name).damaged-2") == (obstacle == .folder && round == 2))
                for path in left where obstacle == .folder && path.hasPrefix("\(name).damaged") {
                    #expect(try Data(contentsOf: folder.appending(path: "\(path)/file")) == Data("mine".utf8))
                }
                if obstacle == .link {
                    #expect(names(in: folder.appending(path: "target")) == ["file"])
                }
                // The lock is a file only while an index is set aside.
                if left.contains(name) { try FileManager.default.removeItem(at: place) }
            }
        }
    }

    /// A directory in the place of the index while the store is used.
    @Test func anIndexThatBecomesADirectoryIsSetAside() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            try await add(Data("a".utf8), to: store)
            let index = folder.appending(path: "index.sqlite")
            for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
                try? FileManager.default.removeItem(at: folder.appending(path: name))
            }
            try Obstacle.folder.make(at: index)
            try await add(Data("b".utf8), "/b", to: store)
            #expect(try await body("/b", in: store) == Data("b".utf8))
            #expect(names(in: folder).contains("index.sqlite.damaged"))
        }
    }

    /// The limit on the size of a process's files, in a separate process: it needs no privileges.
    @Test func aFileAboveTheProcessesLimitIsAMiss() async {
        await #expect(processExitsWith: .success) {
            try #require(limitFileSize(300_000))
            try await withCacheFolder { folder in
                let store = try DiskCacheStore(at: folder, limit: 100 << 20)
                do {
                    try await add(bytes(400_000), to: store)
                    exit(1)
                } catch let error as CacheError {
                    try #require(error.code == .storageFailed)
                }
                try #require(try await body(in: store) == nil)
                try #require(names(in: folder.appending(path: "bodies")).isEmpty)
                try await add(Data("a".utf8), to: store)
                try #require(try await body(in: store) == Data("a".utf8))
                try #require(await store.statistics().failures == 1)
            }
        }
    }
}
