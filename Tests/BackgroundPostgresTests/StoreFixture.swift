import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import Testing

@testable import LinnetBackgroundPostgres

/// The stores that the tests run over. SQLite is always there.
enum StoreKind: String, Sendable, CaseIterable {
    case sqlite, postgres

    static var available: [StoreKind] { allCases.filter { $0 == .sqlite || PostgresServer.isInstalled } }
}

/// The place of a store, which can be opened more than once.
struct StorePlace: Sendable {
    let kind: StoreKind
    let folder: URL
    let schema: String

    func open() async throws -> any TransferStore {
        switch kind {
        case .sqlite: try await SQLiteTransferStore(directory: folder.appending(path: "store"))
        case .postgres: try await openPostgres()
        }
    }

    func openPostgres(
        _ configure: (inout PostgresTransferStore.Configuration) -> Void = { _ in }
    ) async throws -> PostgresTransferStore {
        try await PostgresTransferStore(PostgresServer.connectionString()) {
            $0.schema = schema
            // So that a change is seen because it was told.
            $0.pollInterval = .seconds(600)
            configure(&$0)
        }
    }
}

/// Makes the place of a new store, and removes it.
func withStorePlace<Result>(
    _ kind: StoreKind, _ perform: (StorePlace) async throws -> Result
) async throws -> Result {
    let name = "linnet_\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    let folder = FileManager.default.temporaryDirectory.appending(path: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
        try? FileManager.default.removeItem(at: folder)
        if kind == .postgres { _ = try? PostgresServer.run("DROP SCHEMA IF EXISTS \(name) CASCADE") }
    }
    return try await perform(StorePlace(kind: kind, folder: folder, schema: name))
}

func withStore<Result>(
    _ kind: StoreKind, _ perform: (any TransferStore) async throws -> Result
) async throws -> Result {
    try await withStorePlace(kind) { try await perform($0.open()) }
}

/// A session for calls that are only stored.
let storedCalls = Result { try HTTPSession() }

func storedCall(_ url: String = "http://127.0.0.1:9/a", _ method: HTTPRequest.Method = .get) throws -> HTTPCall {
    try storedCalls.get().call(method, url)
}

/// Describes a download to a destination with the name of its identifier.
func transfer(
    _ id: String, from url: String = "http://127.0.0.1:9/a", _ configure: (inout TransferOptions) -> Void = { _ in }
) throws -> TransferDescription {
    try TransferDescription(id, download: storedCall(url), to: id, configure: configure)
}

/// Runs something that must fail, and returns its error.
func failure(_ perform: () async throws -> Void) async throws -> BackgroundError {
    do {
        try await perform()
    } catch let error as BackgroundError {
        return error
    }
    throw NoFailure()
}

struct NoFailure: Error {}

extension TransferStore {
    /// Leases one transfer; waits until there is one.
    func leaseOne(by worker: String = "a", for duration: Duration = .seconds(60)) async throws -> TransferLease {
        while true {
            if let lease = try await lease(1, by: worker, for: duration).first { return lease }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// All transfers, in their order.
    func all() async throws -> [StoredTransfer] {
        try await transfers(in: Set(BackgroundTask.State.allCases), after: nil, limit: 1_000_000)
    }

    /// Waits until a transfer has a state.
    func state(_ state: BackgroundTask.State, of id: String) async throws {
        while try await transfer(id)?.state != state { try await Task.sleep(for: .milliseconds(5)) }
    }
}
