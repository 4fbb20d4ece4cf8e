import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetBackgroundPostgres
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

/// Workers over all stores.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(3)))
struct TransferWorkerTests {
    @Test(arguments: StoreKind.available)
    func transfersReachTheirFiles(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            try await fleet.store.add((0..<20).map { try fleet.transfer("\($0)") })
            try await fleet.worker().run(untilEmpty: true)
            #expect(try await fleet.store.counts() == [.completed: 20])
            #expect(fleet.files == (0..<20).map { "\($0)" }.sorted())
            for index in 0..<20 {
                let file = fleet.place.folder.appending(path: "files/\(index)")
                #expect(try Data(contentsOf: file) == content("/\(index)"))
            }
            let last = try #require(try await fleet.store.transfer("7"))
            #expect(last.progress.fraction == 1 && last.status == .ok && last.attempts == 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func anObjectIsPutOnceItsClosureSucceeds(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            try await fleet.store.add([fleet.transfer("a/../b", "/x")])
            let objects = Mutex<[Data]>([])
            let worker = try await fleet.worker(to: { transfer in
                #expect(transfer.destination == "a/../b")
                return .object { file in
                    let data = try Data(contentsOf: file)
                    let count = objects.withLock { objects in
                        objects.append(data)
                        return objects.count
                    }
                    if count < 3 { throw NoFailure() }
                }
            })
            try await worker.run(untilEmpty: true)
            #expect(objects.withLock { $0 } == [Data](repeating: content("/x"), count: 3))
            let transfer = try #require(try await fleet.store.transfer("a/../b"))
            #expect(transfer.state == .completed && transfer.attempts == 3)
            let left = try FileManager.default.contentsOfDirectory(atPath: fleet.place.folder.path + "/worker/objects")
            #expect(left.isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func aWrongFileDoesNotReachItsDestination(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            try await fleet.store.add([
                fleet.transfer("digest", "/x") { $0.sha256 = String(repeating: "0", count: 64) },
                fleet.transfer("size", "/x") { $0.expectedSize = 5 },
                fleet.transfer("../outside", "/x"), fleet.transfer("/etc/outside", "/x"),
            ])
            try await fleet.worker().run(untilEmpty: true)
            #expect(try await fleet.store.counts() == [.failed: 4])
            let codes = try await fleet.store.all().map(\.error?.code)
            #expect(codes == [.digestMismatch, .sizeMismatch, .invalidDestination, .invalidDestination])
            #expect(fleet.files.isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func aStoppedWorkerGivesBackAndTheNextGoesOn(_ kind: StoreKind) async throws {
        let throttle = MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(10))
        try await withFleet(kind, throttle: throttle, size: 3_000_000) { fleet in
            try await fleet.store.add([fleet.transfer("a")])
            do {
                let first = try await fleet.worker { $0.leaseDuration = .seconds(1) }
                let running = Task { try await first.run() }
                // A renewal tells the progress.
                while try await fleet.store.transfer("a")?.progress.completed ?? 0 < 300_000 {
                    try await Task.sleep(for: .milliseconds(5))
                }
                running.cancel()
                try await running.value
                let given = try #require(try await fleet.store.transfer("a"))
                #expect(given.state == .waiting && given.worker == nil && given.error == nil)
            }
            fleet.requests.speedUp()
            try await fleet.worker().run(untilEmpty: true)
            let file = fleet.place.folder.appending(path: "files/a")
            #expect(try Data(contentsOf: file) == content("/a", 3_000_000))
            #expect(fleet.requests.ranges.count == 2 && fleet.requests.ranges.last != .some(nil))
            #expect(fleet.files == ["a"])
        }
    }

    @Test(arguments: StoreKind.available)
    func aRunningTransferIsPausedAndCancelled(_ kind: StoreKind) async throws {
        let throttle = MockResponse.Throttle(bytes: 1 << 10, pause: .milliseconds(20))
        try await withFleet(kind, throttle: throttle, size: 3_000_000) { fleet in
            try await fleet.store.add(["a", "b"].map { try fleet.transfer($0) })
            let worker = try await fleet.worker()
            let running = Task { try await worker.run() }
            for name in ["a", "b"] { try await fleet.store.state(.running, of: name) }
            try await fleet.store.apply(.pause, to: ["a"])
            try await fleet.store.apply(.cancel, to: ["b"])
            try await fleet.store.state(.paused, of: "a")
            try await fleet.store.state(.cancelled, of: "b")
            running.cancel()
            try await running.value
            // At most the part of the paused one.
            #expect(fleet.files.count <= 1 && fleet.files.allSatisfy { $0.hasPrefix(".") })
        }
    }

    @Test(arguments: StoreKind.available)
    func aWorkerThatIsIdleHearsOfNewTransfers(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            let worker = try await fleet.worker { $0.pollInterval = .seconds(600) }
            let running = Task { try await worker.run() }
            for name in ["a", "b", "c"] {
                try await fleet.place.open().add([fleet.transfer(name)])
                try await fleet.store.state(.completed, of: name)
            }
            running.cancel()
            try await running.value
        }
    }

    /// The renewal that runs has already read the transfer.
    @Test(arguments: StoreKind.available)
    func aPauseDuringARenewalIsHeard(_ kind: StoreKind) async throws {
        let throttle = MockResponse.Throttle(bytes: 1 << 10, pause: .milliseconds(20))
        try await withFleet(kind, throttle: throttle, size: 3_000_000) { fleet in
            try await fleet.store.add([fleet.transfer("a")])
            let store = DeafStore(base: fleet.store, renewals: .init())
            let worker = try await fleet.worker("worker", store) {
                // No other renewal than for a change.
                $0.leaseDuration = .seconds(86_400)
                $0.pollInterval = .seconds(600)
            }
            let running = Task { try await worker.run() }
            try await fleet.store.state(.running, of: "a")
            // A change that is none for the transfer begins a renewal, which is held back.
            while store.renewals?.isHeld != true {
                try await fleet.store.apply(.resume, to: ["a"])
                try await Task.sleep(for: .milliseconds(5))
            }
            try await fleet.store.apply(.pause, to: ["a"])
            // The worker looks for transfers when it has heard of a change.
            let passes = store.renewals?.passes ?? 0
            while store.renewals?.passes ?? 0 < passes + 2 {
                try await fleet.store.apply(.pause, to: ["a"])
                try await Task.sleep(for: .milliseconds(5))
            }
            store.renewals?.goOn.fire()
            try await fleet.store.state(.paused, of: "a")
            running.cancel()
            try await running.value
        }
    }

    /// Transfers that a worker has lost, although it goes on.
    @Test(arguments: StoreKind.available)
    func aWorkerWithoutItsLeaseDropsWhatItHas(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            try await fleet.store.add([fleet.transfer("a")])
            let events = Mutex<[TransferWorker.Event.Kind]>([])
            let (began, beginning) = AsyncStream.makeStream(of: Void.self)
            let (gone, going) = AsyncStream.makeStream(of: Void.self)
            let worker = try await fleet.worker("worker", DeafStore(base: fleet.store)) {
                $0.leaseDuration = .seconds(1)
                // The worker has no room for the transfer that it has lost.
                $0.maximumActive = 1
                $0.observe = { event in events.withLock { $0.append(event.kind) } }
            } to: { _ in
                .object { _ in
                    beginning.yield()
                    for await _ in gone { break }
                }
            }
            let running = Task { try await worker.run() }
            for await _ in began { break }
            let other = try await fleet.store.leaseOne(by: "other")
            #expect(other.fencingNumber == 2)
            going.yield()
            while !events.withLock({ $0.contains(.leaseLost) }) { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try await fleet.store.transfer("a")?.worker == "other")
            #expect(try await fleet.store.end(other, with: .completed).state == .completed)
            running.cancel()
            try await running.value
            #expect(!events.withLock { $0.contains(.ended) })
        }
    }

    /// The server ends all connections of the worker, again and again.
    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func aWorkerGoesOnAfterLostConnections() async throws {
        try await withFleet(.postgres) { fleet in
            try await fleet.store.add((0..<60).map { try fleet.transfer("\($0)") })
            let name = fleet.place.schema
            let store = try await PostgresTransferStore(
                "\(PostgresServer.connectionString()) application_name=\(name)"
            ) { $0.schema = name }
            let worker = try await fleet.worker("worker", store) { $0.leaseDuration = .seconds(3) }
            let ending = Task {
                var ended = 0
                while !Task.isCancelled, ended < 40 {
                    ended += try PostgresServer.run(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [name]
                    ).count
                    try? await Task.sleep(for: .milliseconds(15))
                }
                return ended
            }
            try await worker.run(untilEmpty: true)
            ending.cancel()
            #expect(try await ending.value > 0)
            #expect(try await fleet.store.counts() == [.completed: 60])
            #expect(fleet.files == (0..<60).map { "\($0)" }.sorted())
        }
    }

    @Test(arguments: StoreKind.available)
    func oneWorkerAtATimeHasADirectory(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            let first = try await fleet.worker()
            #expect(try await failure { _ = try await fleet.worker() }.code == .directoryInUse)
            try await first.run(untilEmpty: true)
            let second = try await fleet.worker()
            #expect(try await failure { try await first.run(untilEmpty: true) }.code == .directoryInUse)
            try await second.run(untilEmpty: true)
            try await first.run(untilEmpty: true)
        }
    }

    @Test(arguments: ["", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\u{0}"])
    func aNameThatLeavesItsFolderIsRefused(_ name: String) async throws {
        let error = try await failure { _ = try TransferWorker.Destination.file(name, in: URL(filePath: "/srv")) }
        #expect(error.code == .invalidDestination)
    }
}
