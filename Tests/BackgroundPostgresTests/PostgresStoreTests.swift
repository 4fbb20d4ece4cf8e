import FoundationEssentials
import LinnetBackground
import LinnetBackgroundPostgres
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// What can go wrong between a store and its server.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .timeLimit(.minutes(3)))
struct PostgresStoreTests {
    private func underlying(_ error: BackgroundError) -> PostgresError? { error.underlying as? PostgresError }

    @Test func aServerThatIsNotThereIsATypedError() async throws {
        let error = try await failure {
            _ = try await PostgresTransferStore("host=127.0.0.1 port=1 user=ada password=secret-word") {
                $0.connectTimeout = .seconds(1)
            }
        }
        #expect(error.code == .storeUnavailable && !"\(error)".contains("secret-word"))
        let postgres = try #require(underlying(error))
        #expect(postgres.sqlState == nil && !postgres.message.contains("\n"))
    }

    /// A server that accepts connections, and says nothing.
    @Test func aSilentServerIsGivenUp() async throws {
        try await withStorePlace(.postgres) { place in
            let silent = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(silent) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = place.folder.path + "/.s.PGSQL.5432"
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: [UInt8](path.utf8)) }
            let bound = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(silent, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0 && listen(silent, 5) == 0)
            let duration = try await ContinuousClock().measure {
                let error = try await failure {
                    _ = try await PostgresTransferStore("host=\(place.folder.path)") {
                        $0.connectTimeout = .milliseconds(300)
                    }
                }
                #expect(error.code == .storeUnavailable && error.message.contains("in time"))
            }
            #expect(duration < .seconds(20))
        }
    }

    @Test func aRefusedUserAndAMissingDatabaseAreTypedErrors() async throws {
        let good = try PostgresServer.connectionString()
        for bad in ["\(good) dbname=missing", "\(good) user=missing", "not a connection string", "postgresql://["] {
            let error = try await failure {
                _ = try await PostgresTransferStore(bad) { $0.connectTimeout = .milliseconds(200) }
            }
            #expect(error.code == .storeUnavailable && underlying(error) != nil, "\(bad)")
        }
        let error = try await failure { _ = try await PostgresTransferStore("host=a\u{0}b") }
        #expect(error.code == .invalidOptions)
    }

    @Test func anErrorOfTheServerKeepsItsState() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.openPostgres()
            try PostgresServer.run("DROP TABLE \(place.schema).transfer")
            let error = try await failure { try await store.add([transfer("a")]) }
            #expect(error.code == .storageFailed && underlying(error)?.sqlState == "42P01")
            // The connection goes on.
            #expect(try await failure { _ = try await store.counts() }.code == .storageFailed)
        }
    }

    @Test func aNewerSchemaIsLeftAlone() async throws {
        try await withStorePlace(.postgres) { place in
            try await place.openPostgres().add([transfer("a")])
            try PostgresServer.run("UPDATE \(place.schema).version SET version = 99")
            #expect(try await failure { _ = try await place.openPostgres() }.code == .newerJournal)
            #expect(try PostgresServer.run("SELECT count(*) FROM \(place.schema).transfer") == [["1"]])
        }
    }

    @Test func programsThatStartAtOnceMakeTheTablesOnce() async throws {
        try await withStorePlace(.postgres) { place in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask { try await place.openPostgres().add([transfer("\(index)"), transfer("all")]) }
                }
                try await group.waitForAll()
            }
            #expect(try PostgresServer.run("SELECT count(*) FROM \(place.schema).transfer") == [["9"]])
        }
    }

    @Test(arguments: ["", "Upper", "a-b", "1a", "a\"b", String(repeating: "a", count: 49)])
    func aNameThatNeedsQuotesIsNoSchema(_ name: String) async throws {
        let error = try await failure {
            _ = try await PostgresTransferStore(PostgresServer.connectionString()) { $0.schema = name }
        }
        #expect(error.code == .invalidOptions)
    }

    /// Ends all connections of the server that work on a schema, or listen to it.
    private func endConnections(of place: StorePlace) throws {
        try PostgresServer.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE $1",
            ["%\(place.schema)%"])
    }

    @Test func aLostConnectionIsMadeAgain() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.openPostgres { $0.connections = 1 }
            for index in 0..<5 {
                try await store.add([transfer("\(index)")])
                // The last statement of the connection names the schema.
                _ = try await store.counts()
                try endConnections(of: place)
            }
            #expect(try await store.counts() == [.waiting: 5])
        }
    }

    @Test func changesAreToldAfterALostConnection() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.openPostgres { $0.pollInterval = .milliseconds(50) }
            var changes = store.changes().makeAsyncIterator()
            _ = await changes.next()
            for index in 0..<3 {
                try endConnections(of: place)
                try await store.add([transfer("\(index)")])
                // At the latest by the interval.
                for _ in 0..<5 { _ = await changes.next() }
            }
            #expect(try await store.counts() == [.waiting: 3])
        }
    }

    @Test func aStatementThatWaitsTooLongIsEnded() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.openPostgres { $0.statementTimeout = .milliseconds(200) }
            try await store.add([transfer("a")])
            let lease = try await store.leaseOne()
            let locking = Task {
                try PostgresServer.run(
                    "WITH locked AS MATERIALIZED (SELECT 1 FROM \(place.schema).transfer FOR UPDATE) "
                        + "SELECT pg_sleep(2) FROM locked")
            }
            var code: BackgroundError.Code?
            while code == nil {
                do throws(BackgroundError) {
                    _ = try await store.renew([.init(lease)], for: .seconds(60))
                } catch {
                    code = error.code
                    #expect(underlying(error)?.sqlState == "57014")
                }
            }
            #expect(code == .storageFailed)
            _ = try await locking.value
            #expect(try await store.renew([.init(lease)], for: .seconds(60)) == [.held])
        }
    }
}
