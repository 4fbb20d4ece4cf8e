import FoundationEssentials
import GRDB
import LinnetCache
import LinnetDiskCache
import Testing

/// An index that another process has locked.
@Suite(.timeLimit(.minutes(1)))
struct LockTests {
    @Test func onlyOneOperationWaitsForALock() async throws {
        try await withCacheFolder { folder in
            let store = try DiskCacheStore(at: folder)
            try await add(Data("a".utf8), to: store)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(
                path: folder.appending(path: "index.sqlite").path, configuration: configuration)
            try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
            await expect(.storageFailed) { try await add(Data("b".utf8), "/b", to: store) }
            // An operation that waits takes two seconds, and a busy machine can delay others as long.
            var waits = 0
            for _ in 0..<5 {
                let time = await ContinuousClock().measure {
                    await expect(.storageFailed) { try await add(Data("b".utf8), "/b", to: store) }
                }
                if time >= .seconds(2) { waits += 1 }
            }
            #expect(waits <= 1)
            #expect(try await body(in: store) == Data("a".utf8))
            try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
            // An operation that finds no lock does not fail.
            try await add(Data("c".utf8), "/c", to: store)
            #expect(try await body("/c", in: store) == Data("c".utf8))
        }
    }
}
