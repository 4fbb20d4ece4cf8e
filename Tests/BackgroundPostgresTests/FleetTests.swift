import CommandSupport
import Dispatch
import FoundationEssentials
import LinnetBackground
import LinnetBackgroundPostgres
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Threads for tests that wait for other processes. They block while the process runs, and would leave no thread for
/// the server that it talks to.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    private let queue = DispatchQueue(label: "processes", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Four workers of one queue, to which two programs add, each in a process of its own.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .timeLimit(.minutes(20)))
struct FleetTests {
    /// The number of transfers that each process adds; the environment variable `LINNET_BACKGROUND_TASKS` sets another.
    private static let count =
        ProcessInfo.processInfo.environment["LINNET_BACKGROUND_TASKS"].flatMap { Int($0) } ?? 200
    /// The worker that goes away.
    private static let absent = "worker-0"

    /// How it goes away, with transfers in its hands.
    enum Fate: Sendable, CaseIterable {
        /// It is stopped for longer than its leases, and goes on.
        case stopped
        case killed
    }

    /// The files by which the processes speak.
    private struct Board: Sendable, Codable {
        let folder, connection, schema, server: String

        func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(folder)/\(name)") }
        func post(_ name: String, _ text: String = "") throws {
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
        }
        func read(_ name: String) throws -> String { try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }
        func wait(for name: String) async throws {
            while !has(name) { try await Task.sleep(for: .milliseconds(10)) }
        }

        func open() async throws -> PostgresTransferStore {
            try await PostgresTransferStore(connection) {
                $0.schema = schema
                // A stopped process holds the locks of its transaction for this long.
                $0.statementTimeout = .seconds(5)
            }
        }
    }

    @Test(arguments: Fate.allCases)
    func aWorkerThatGoesAwayDoublesAndLosesNothing(_ fate: Fate) async throws {
        try await withMockServer(handler: { _ in MockResponse(body: .bytes(Data("content".utf8))) }) { server in
            try await withStorePlace(.postgres) { place in
                let board = Board(
                    folder: place.folder.path, connection: try PostgresServer.connectionString(), schema: place.schema,
                    server: server.url.absoluteString)
                let store = try await board.open()
                try board.post("payload", "content")
                let clock = ContinuousClock()
                let start = clock.now
                let processes = Self.start(board, fate)
                try await Self.takeAway(board, store, fate)
                while try await store.counts()[.completed] ?? 0 < 2 * Self.count {
                    try await Task.sleep(for: .milliseconds(50))
                }
                try board.post("done")
                for process in processes { await process.value }
                print("\(2 * Self.count) transfers by four workers in \(clock.now - start)")
                try await Self.check(board, store, fate)
            }
        }
    }

    private static func start(_ board: Board, _ fate: Fate) -> [Task<Void, Never>] {
        let adding = ["a", "b"].map { name in
            Task(executorPreference: WaitingThreads.shared) {
                _ = await #expect(processExitsWith: .success) {
                    [board = board as Board, name = name as String, count = count as Int] in
                    try await Self.add(count, named: name, board)
                }
            }
        }
        let working = (0..<4).map { "worker-\($0)" }.map { name in
            Task(executorPreference: WaitingThreads.shared) {
                let isKilled = fate == .killed && name == absent
                _ = await #expect(processExitsWith: isKilled ? .signal(SIGKILL) : .success) {
                    [board = board as Board, name = name as String] in
                    try await Self.work(as: name, board)
                }
            }
        }
        return adding + working
    }

    private static func add(_ count: Int, named name: String, _ board: Board) async throws {
        let store = try await board.open()
        for begin in stride(from: 0, to: count, by: 50) {
            let part = try (begin..<min(begin + 50, count)).map { index in
                let (id, url) = ("\(name)-\(index)\n", board.server + "\(index)")
                guard index % 4 == 0 else { return try transfer(id, from: url) }
                return try TransferDescription(id, upload: storedCall(url, .put), from: "payload")
            }
            try await store.add(part)
            // Programs repeat what they are not sure of.
            if begin % 100 == 0 { try await store.add(part) }
        }
    }

    private static func work(as name: String, _ board: Board) async throws {
        let store = try await board.open()
        let log = open("\(board.folder)/\(name).log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let worker = try await TransferWorker(store, directory: URL(filePath: "\(board.folder)/\(name)")) {
            $0.name = name
            $0.maximumActive = 8
            $0.maximumActivePerHost = 8
            $0.source = { transfer in
                // An upload that the others do again.
                if name == absent, transfer.attempts == 1, board.has("absent") { try await board.wait(for: "back") }
                return try .file(transfer.source ?? "", in: URL(filePath: board.folder))
            }
            $0.leaseDuration = .seconds(3)
            $0.observe = { event in
                guard let transfer = event.transfer else { return }
                let error = transfer.error.map { " \($0)" } ?? ""
                let line = "\(event.kind) \(transfer.state) \(transfer.id.dropLast())\(error)\n"
                _ = line.withCString { write(log, $0, strlen($0)) }
            }
        } destination: { transfer in
            .object { file in
                guard try Data(contentsOf: file) == Data("content".utf8) else { throw NoFailure() }
                guard name == absent, transfer.attempts == 1 else { return }
                // It is stopped while it has a complete file in its hands, with a lease.
                if !board.has("absent") { try board.post("absent", "\(getpid())") }
                try await board.wait(for: "back")
            }
        }
        let working = Task { try await worker.run() }
        try await board.wait(for: "done")
        working.cancel()
        try await working.value
    }

    /// Stops a worker until its leases are lost, and lets it go on; or kills it.
    private static func takeAway(_ board: Board, _ store: PostgresTransferStore, _ fate: Fate) async throws {
        try await board.wait(for: "absent")
        let process = try #require(pid_t(try board.read("absent")))
        try #require(kill(process, fate == .killed ? SIGKILL : SIGSTOP) == 0)
        defer { if fate == .stopped { kill(process, SIGCONT) } }
        // The other workers take its transfers when the leases have ended.
        while try await store.transfers(in: [.running], after: nil, limit: 1000).contains(where: { $0.worker == absent }
        ) {
            try await Task.sleep(for: .milliseconds(50))
        }
        try board.post("back")
    }

    private static func check(_ board: Board, _ store: PostgresTransferStore, _ fate: Fate) async throws {
        #expect(try await store.counts() == [.completed: 2 * count])
        var completed: [String] = []
        var lost: [String] = []
        for name in (0..<4).map({ "worker-\($0)" }) {
            for line in try board.read("\(name).log").split(separator: "\n") {
                if line.hasPrefix("ended completed ") { completed.append(String(line.dropFirst(16))) }
                if line.hasPrefix("leaseLost ") { lost.append("\(name) \(line)") }
            }
        }
        let added = Set(["a", "b"].flatMap { name in (0..<count).map { "\(name)-\($0)" } })
        let untold = added.subtracting(completed)
        #expect(completed.count + untold.count == 2 * count && added.isSuperset(of: completed))
        // A worker can be killed between an end in the store and its line in the log.
        #expect(untold.isEmpty || fate == .killed, "\(untold)")
        // A worker that was stopped has tried to end what others had.
        #expect(lost.contains { $0.hasPrefix(absent) } == (fate == .stopped), "\(lost)")
        let attempts = try await store.all().map(\.attempts).reduce(0, +)
        #expect(attempts >= 2 * count + 1)
        print("\(lost.count) leases were lost, \(attempts) were given")
    }
}
