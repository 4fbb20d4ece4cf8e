import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

/// The limit of each host, and what workers leave in their folders.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(3)))
struct WorkerRoomTests {
    @Test(arguments: StoreKind.available)
    func aFullHostMakesRoomForOthers(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add(
                try (0..<30).map { try transfer("a\($0)", from: "http://a.example/\($0)") }
                    + (0..<3).map { try transfer("b\($0)", from: "HTTPS://B.example:443/\($0)") }
                    + [transfer("c", from: "https://a.example/x")])
            var room = TransferLease.Room()
            room.maximumPerHost = 2
            let leases = try await store.lease(10, by: "w", for: .seconds(60), in: room)
            // The port is a part of the host.
            #expect(leases.map(\.transfer.id) == ["a0", "a1", "b0", "b1", "c"])
            #expect(try await store.lease(1, by: "w", for: .seconds(60), in: room).map(\.transfer.id) == ["a2"])
            room.maximumPerHost = 0
            let least = try await store.lease(10, by: "w", for: .seconds(60), in: room).map(\.transfer.id)
            #expect(least == ["a3", "b2"])
            #expect(try await store.lease(3, by: "w", for: .seconds(60)).map(\.transfer.id) == ["a4", "a5", "a6"])
        }
    }

    @Test(arguments: StoreKind.available)
    func aWorkerKeepsToTheLimitOfAHost(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            // Two names of one server.
            let port = try #require(fleet.server.url.port)
            let urls = (0..<24).map { "http://\($0 < 16 ? "127.0.0.1" : "localhost"):\(port)/\($0)" }
            try await fleet.store.add(
                urls.enumerated().map {
                    try TransferDescription("\($0.offset)", download: fleet.session.get($0.element), to: "\($0.offset)")
                })
            struct Load {
                var now: [String: Int] = [:]
                var most: [String: Int] = [:]
            }
            let load = Mutex(Load())
            try await fleet.worker {
                $0.maximumActive = 5
                $0.maximumActivePerHost = 2
                $0.observe = { event in
                    guard let host = event.transfer?.url?.host() else { return }
                    load.withLock { load in
                        load.now[host, default: 0] += event.kind == .leased ? 1 : -1
                        load.most[host] = max(load.most[host] ?? 0, load.now[host] ?? 0)
                    }
                }
            }.run(untilEmpty: true)
            #expect(try await fleet.store.counts() == [.completed: 24])
            #expect(load.withLock { $0.most } == ["127.0.0.1": 2, "localhost": 2])
        }
    }

    @Test func aWorkerKeepsToItsBandwidth() async throws {
        try await withFleet(.sqlite, size: 300_000) { fleet in
            try await fleet.store.add([fleet.transfer("a"), fleet.transfer("b")])
            let start = ContinuousClock.now
            try await fleet.worker { $0.bytesPerSecond = 1_000_000 }.run(untilEmpty: true)
            // A quarter of a second is saved up.
            #expect(ContinuousClock.now - start > .milliseconds(300))
            #expect(try await fleet.store.counts() == [.completed: 2])
        }
    }

    /// The tables of the first version had no kinds and hosts.
    @Test(arguments: StoreKind.available)
    func olderTablesAreMigrated(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            do {
                let store = try await place.open()
                try await store.add(
                    try (0..<2500).map {
                        try transfer("\($0)\u{1}", from: "http://\($0 < 2000 ? "a" : "b").example") {
                            $0.tag = "\u{0}"
                        }
                    })
            }
            switch kind {
            case .sqlite:
                let journal = place.folder.appending(path: "store/journal.sqlite").path
                try await Command.sqlite(
                    journal,
                    """
                    DROP INDEX transferToStart; DROP INDEX transferReady;
                    ALTER TABLE transfer DROP COLUMN kind; ALTER TABLE transfer DROP COLUMN host;
                    CREATE INDEX transferToStart ON transfer(rank, number, readyAt) WHERE state = 0;
                    CREATE INDEX transferReady ON transfer(readyAt) WHERE state = 0;
                    UPDATE setting SET value = 1 WHERE name = 'transferVersion';
                    """)
            case .postgres:
                for statement in [
                    "DROP INDEX \(place.schema).transfer_ready",
                    "ALTER TABLE \(place.schema).transfer DROP COLUMN kind, DROP COLUMN host",
                    "CREATE INDEX transfer_ready ON \(place.schema).transfer (\"readyAt\") WHERE state = 0",
                    "UPDATE \(place.schema).version SET version = 1",
                ] { try PostgresServer.run(statement) }
            }
            let store = try await place.open()
            var room = TransferLease.Room()
            room.maximumPerHost = 2
            let leases = try await store.lease(9, by: "w", for: .seconds(60), in: room)
            #expect(leases.map(\.transfer.id) == ["0\u{1}", "1\u{1}", "2000\u{1}", "2001\u{1}"])
            try await store.add([TransferDescription("up", upload: storedCall(), from: "up")])
            room.kinds = [.upload]
            #expect(try await store.lease(9, by: "w", for: .seconds(60), in: room).map(\.transfer.id) == ["up"])
        }
    }

    @Test func aNewerTableIsLeftAlone() async throws {
        try await withStorePlace(.sqlite) { place in
            do { try await place.open().add([transfer("a")]) }
            let journal = place.folder.appending(path: "store/journal.sqlite").path
            try await Command.sqlite(journal, "UPDATE setting SET value = 99 WHERE name = 'transferVersion'")
            #expect(try await failure { _ = try await place.open() }.code == .newerJournal)
        }
    }

    /// A transfer that ended without its worker, and one that failed.
    @Test(arguments: StoreKind.available)
    func partsOfEndedTransfersAreRemoved(_ kind: StoreKind) async throws {
        let throttle = MockResponse.Throttle(bytes: 16 << 10, pause: .milliseconds(50))
        try await withFleet(kind, throttle: throttle, size: 3_000_000) { fleet in
            let worker = try await fleet.worker {
                $0.sweepInterval = .zero
                $0.leaseDuration = .seconds(1)
            }
            let running = Task { try await worker.run() }
            for name in ["cancelled", "failed"] {
                try await fleet.store.add([fleet.transfer(name)])
                // A renewal tells the progress.
                while try await fleet.store.transfer(name)?.progress.completed ?? 0 < 50_000 {
                    try await Task.sleep(for: .milliseconds(5))
                }
                try await fleet.store.apply(.pause, to: [name])
                try await fleet.store.state(.paused, of: name)
                #expect(fleet.files.count == 1)
                if name == "cancelled" {
                    try await fleet.store.apply(.cancel, to: [name])
                } else {
                    fleet.requests.answer(.status(.notFound))
                    try await fleet.store.apply(.resume, to: [name])
                    try await fleet.store.state(.failed, of: name)
                }
                while !fleet.files.isEmpty {
                    // Any change lets the worker look.
                    try await fleet.store.apply(.resume, to: [name])
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            running.cancel()
            try await running.value
        }
    }
}
