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
            // Also one that is opened to others later.
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

    /// A directory that is replaced by one of others while the store is used.
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

    // MARK: Full disks

    /// A file system of 1 MiB, then one that is read-only, which takes root and the right to mount one.
    @Test(.enabled(if: SmallDisk.isPossible, "Mounting a small file system is not allowed here."))
    func aFullAndAReadOnlyDiskAreMisses() async throws {
        try await withCacheFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try SmallDisk.mount(at: folder)
            do {
                try await fill(folder)
                // Only a file system without files that are open for writing can become read-only.
                try SmallDisk.mount(at: folder, options: "remount,ro")
                let store = try DiskCacheStore(at: folder)
                await expect(.storageFailed) { try await add(Data("b".utf8), "/b", to: store) }
                #expect(await store.statistics().failures > 0)
            } catch {
                Issue.record(error)
            }
            try SmallDisk.unmount(folder)
        }
    }

    /// The limit of a process on the size of its files, in a process of its own: which needs no privileges.
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

    /// Stores more than there is space for: some fail, and what did not is right.
    private func fill(_ folder: URL) async throws {
        let store = try DiskCacheStore(at: folder, limit: 100 << 20)
        var kept: [Int] = []
        for index in 0..<20 {
            do {
                try await add(bytes(100_000, seed: UInt64(index)), "/\(index)", to: store)
                kept.append(index)
            } catch let error as CacheError {
                #expect(error.code == .storageFailed)
            }
        }
        #expect(!kept.isEmpty && kept.count < 20)
        for index in kept { #expect(try await body("/\(index)", in: store) == bytes(100_000, seed: UInt64(index))) }
        let statistics = await store.statistics()
        #expect(statistics.count == kept.count && statistics.failures > 0)
    }
}
