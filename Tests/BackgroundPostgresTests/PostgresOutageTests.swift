import Dispatch
import FoundationEssentials
import LinnetBackground
import LinnetBackgroundPostgres
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Servers of the tests' own, which are restarted, or reached by TLS.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .timeLimit(.minutes(3)))
struct PostgresOutageTests {
    @Test func callsAndLeasesSurviveARestartOfTheServer() async throws {
        let server = try PostgresServer()
        defer { server.end() }
        let store = try await PostgresTransferStore(server.connectionString) {
            $0.connections = 1
            $0.connectTimeout = .seconds(100)
        }
        try await store.add([transfer("a"), transfer("b")])
        let lease = try await store.leaseOne()
        try await server.stop()
        let refusal = try RefusingSocket(server.socket)
        let adding = Task { try await store.add([transfer("c")]) }
        // More often than a call tries that does not wait for the server.
        try await refusal.refuse(4)
        refusal.end()
        try server.start()
        #expect(try await adding.value == ["c"])
        #expect(try await store.renew([.init(lease)], for: .seconds(60)) == [.held])
        #expect(try await store.end(lease, with: .completed).state == .completed)
        #expect(try await store.counts() == [.completed: 1, .waiting: 2])
    }

    /// A worker has no way to its store for a while.
    @Test func aCallFailsWhenTheServerIsAwayForTooLong() async throws {
        let server = try PostgresServer()
        defer { server.end() }
        let store = try await PostgresTransferStore(server.connectionString) {
            $0.connectTimeout = .milliseconds(200)
        }
        try await server.stop()
        #expect(try await failure { _ = try await store.counts() }.code == .storeUnavailable)
        try server.start()
        while true {
            do {
                #expect(try await store.add([transfer("a")]) == ["a"])
                break
            } catch let error as BackgroundError where error.code == .storeUnavailable {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    @Test func connectionsAreEncryptedAndTheServerIsVerified() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity { ($0.hosts, $0.addresses) = (["database.test"], []) }
        let server = try PostgresServer(
            .init(certificateChain: identity.certificateChainPEM, privateKey: identity.privateKeyPEM))
        defer { server.end() }
        func anchors(_ pem: String, _ name: String) throws -> String {
            let path = server.folder + "/" + name
            try Data(pem.utf8).write(to: URL(filePath: path))
            return "user=linnet dbname=postgres hostaddr=\(server.address) sslrootcert=\(path)"
        }
        let trusted = try anchors(pki.rootPEM, "root.pem")
        let store = try await PostgresTransferStore("\(trusted) host=database.test sslmode=verify-full")
        // More than a record of TLS, in both directions.
        let tag = String(repeating: "x", count: 1000)
        try await store.add((0..<300).map { try transfer("\($0)") { $0.tag = tag } })
        #expect(try await store.all().map(\.id) == (0..<300).map { "\($0)" })
        let encrypted = try server.run(
            """
            SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'linnet' AND client_addr IS NOT NULL
            """)
        #expect(encrypted == [["t"]])

        let others = try anchors(TestPKI(named: "Other").rootPEM, "other.pem")
        for (refused, reason) in [
            ("\(trusted) host=other.test sslmode=verify-full", "does not match"),
            ("\(others) host=database.test sslmode=verify-full", "certificate verify failed"),
            ("\(trusted) host=database.test sslmode=disable", "pg_hba.conf"),
        ] {
            let error = try await failure { _ = try await PostgresTransferStore(refused) }
            #expect(error.code == .storeUnavailable && error.message.contains(reason), "\(error)")
        }
    }
}

/// The socket of a server that is away: a connection is accepted, and closed at once.
private final class RefusingSocket: Sendable {
    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: [UInt8](path.utf8)) }
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(descriptor, 5) == 0)
    }

    /// Refuses a number of connections; throws if none comes for a minute.
    func refuse(_ count: Int) async throws {
        let isDone = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [descriptor] in
                let isDone = (0..<count).allSatisfy { _ in
                    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    guard poll(&polled, 1, 60_000) > 0 else { return false }
                    return close(accept(descriptor, nil, nil)) == 0
                }
                continuation.resume(returning: isDone)
            }
        }
        try #require(isDone)
    }

    func end() {
        unlink(path)
        close(descriptor)
    }
}
