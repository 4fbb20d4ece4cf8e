import FoundationEssentials
import LinnetBackground
import LinnetSession
import Synchronization
import Testing

/// Counts what a task hears.
private final class NewsCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .acquiring) }
    func add() { count.add(1, ordering: .acquiringAndReleasing) }
}

/// The rules of all stores.
@Suite(.timeLimit(.minutes(3)))
struct TransferStoreTests {
    @Test(arguments: StoreKind.available)
    func aTransferIsAddedOnce(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            #expect(try await store.add([transfer("a"), transfer("b"), transfer("b")]) == ["a", "b"])
            #expect(try await store.add([transfer("b"), transfer("c"), transfer("a")]) == ["c"])
            #expect(try await store.add([]) == [])
            #expect(try await store.all().map(\.id) == ["a", "b", "c"])
            #expect(try await store.counts()[.waiting] == 3)
            let found = try #require(try await store.transfer("b"))
            #expect(found.destination == "b" && found.state == .waiting && found.attempts == 0 && found.worker == nil)
            #expect(found.url?.absoluteString == "http://127.0.0.1:9/a" && found.nextAttempt == nil)
            #expect(try await store.transfer("d") == nil)
        }
    }

    @Test(arguments: StoreKind.available)
    func leasesGoByPriorityAndAge(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            #expect(try await store.timeUntilReady() == nil)
            try await store.add([
                transfer("low") { $0.priority = .low }, transfer("first"), transfer("second"),
                transfer("later") { $0.earliestBeginDate = Date.now.addingTimeInterval(3600) },
                transfer("high") { $0.priority = .high },
            ])
            #expect(try await store.timeUntilReady() == .zero)
            var order: [String] = []
            for _ in 0..<4 { order += try await store.lease(1, by: "a", for: .seconds(60)).map(\.transfer.id) }
            #expect(order == ["high", "first", "second", "low"])
            #expect(try await store.lease(1, by: "a", for: .seconds(60)).isEmpty)
            let wait = try #require(try await store.timeUntilReady())
            #expect(wait > .seconds(30) && wait <= .seconds(60))
            let leased = try #require(try await store.transfer("high"))
            #expect(leased.state == .running && leased.worker == "a" && leased.attempts == 1)
        }
    }

    /// The case of a worker that was away.
    @Test(arguments: StoreKind.available)
    func aLostLeaseEndsNothing(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add([transfer("a")])
            let old = try await store.leaseOne(by: "old", for: .milliseconds(1))
            let new = try await store.leaseOne(by: "new")
            #expect(old.fencingNumber == 1 && new.fencingNumber == 2)
            for end in [TransferLease.End.completed, .givenBack, .failed(BackgroundError(.diskFull, "x"), .doNotRetry)]
            {
                #expect(try await failure { try await store.end(old, with: end) }.code == .leaseLost)
            }
            let renewals = [TransferLease.Renewal(old), TransferLease.Renewal(new)]
            #expect(try await store.renew(renewals, for: .seconds(60)) == [.lost, .held])
            let kept = try #require(try await store.transfer("a"))
            #expect(kept.state == .running && kept.worker == "new")
            #expect(try await store.end(new, with: .completed).state == .completed)
            // The answer to the first call may have been lost.
            #expect(try await store.end(new, with: .completed).state == .completed)
            #expect(try await failure { try await store.end(new, with: .givenBack) }.code == .leaseLost)
            #expect(try await failure { try await store.end(old, with: .completed) }.code == .leaseLost)
            #expect(try await store.timeUntilReady() == nil)
        }
    }

    @Test(arguments: StoreKind.available)
    func aRenewedLeaseStaysAndKeepsItsProgress(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add([transfer("a")])
            let lease = try await store.leaseOne(for: .milliseconds(500))
            let progress = TransferProgress(completed: 5, total: 9)
            let renewal = TransferLease.Renewal(lease, progress: progress)
            #expect(try await store.renew([renewal], for: .seconds(60)) == [.held])
            let wait = try #require(try await store.timeUntilReady())
            #expect(wait > .seconds(30))
            #expect(try await store.transfer("a")?.progress == progress)
            #expect(try await store.end(lease, with: .givenBack).state == .waiting)
            #expect(try await store.renew([renewal], for: .seconds(60)) == [.lost])
        }
    }

    @Test(arguments: StoreKind.available)
    func aFailedTransferWaitsOrEnds(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add([transfer("a")])
            let error = BackgroundError(.transferFailed, "The server said \u{0} no.", sessionCode: .unacceptableStatus)
            var lease = try await store.leaseOne()
            let waiting = try await store.end(lease, with: .failed(error, .retry(after: .seconds(3600))))
            #expect(waiting.state == .waiting && waiting.nextAttempt != nil && waiting.error?.message == error.message)
            #expect(try await store.lease(1, by: "a", for: .seconds(60)).isEmpty)
            try await store.apply(.retry, to: ["a"])
            lease = try await store.leaseOne()
            let failed = try await store.end(lease, with: .failed(error, .doNotRetry))
            #expect(failed.state == .failed && failed.error?.sessionCode == .unacceptableStatus)
            try await store.apply(.retry, to: ["a"])
            lease = try await store.leaseOne()
            #expect(lease.fencingNumber == 3 && lease.transfer.error == nil)
        }
    }

    @Test(arguments: StoreKind.available)
    func controlsChangeWhatTheStateAllows(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add([transfer("a"), transfer("b"), transfer("c")])
            #expect(try await store.apply(.pause, to: ["a", "x"]) == ["a"])
            #expect(try await store.counts() == [.paused: 1, .waiting: 2])
            try await store.apply(.resume, to: ["a"])
            let leases = try await store.lease(3, by: "w", for: .seconds(60))
            try await store.apply(.pause, to: ["a"])
            try await store.apply(.cancel, to: ["b"])
            try await store.apply(.remove, to: ["c"])
            let statuses = try await store.renew(leases.map { .init($0) }, for: .seconds(60))
            #expect(statuses == [.pauseRequested, .cancelRequested, .held])
            var ends: [BackgroundTask.State] = []
            for lease in leases { ends.append(try await store.end(lease, with: .givenBack).state) }
            #expect(ends == [.paused, .cancelled, .waiting])
            #expect(try await store.apply(.cancel, to: ["c", "a"]).sorted() == ["a", "c"])
            #expect(try await store.apply(.remove, to: ["a", "b", "c"]).count == 3)
            #expect(try await store.all().isEmpty)
            #expect(try await store.add([transfer("b")]) == ["b"])
        }
    }

    @Test(arguments: StoreKind.available)
    func endedTransfersAreRemovedAfterATime(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add(["a", "b", "c", "d"].map { try transfer($0) })
            let leases = try await store.lease(2, by: "w", for: .seconds(60))
            try await store.end(leases[0], with: .completed)
            try await store.apply(.cancel, to: ["c"])
            #expect(try await store.removeEnded(unchangedFor: .seconds(3600)) == 0)
            #expect(try await store.removeEnded(unchangedFor: .zero) == 2)
            #expect(try await store.all().map(\.id) == ["b", "d"])
            #expect(try await failure { try await store.end(leases[0], with: .completed) }.code == .leaseLost)
            #expect(try await store.add([transfer("a")]) == ["a"])
        }
    }

    @Test(arguments: StoreKind.available)
    func aWishHoldsAfterAWorkerIsGone(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add([transfer("a"), transfer("b")])
            _ = try await store.lease(2, by: "w", for: .milliseconds(1))
            try await store.apply(.pause, to: ["a"])
            try await store.apply(.cancel, to: ["b"])
            while try await store.counts()[.running] != nil { _ = try await store.lease(1, by: "v", for: .seconds(9)) }
            #expect(try await store.counts() == [.paused: 1, .cancelled: 1])
        }
    }

    @Test(arguments: StoreKind.available)
    func anExpiredTransferFails(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add([transfer("leased") { $0.timeout = .seconds(3) }])
            let lease = try await store.leaseOne()
            try await store.add([transfer("waiting") { $0.timeout = .milliseconds(1) }])
            while try await store.transfer("waiting")?.state != .failed {
                #expect(try await store.lease(1, by: "a", for: .seconds(60)).isEmpty)
            }
            while try await store.renew([.init(lease)], for: .seconds(60)) == [.held] {
                try await Task.sleep(for: .milliseconds(5))
            }
            for name in ["leased", "waiting"] {
                let ended = try #require(try await store.transfer(name))
                #expect(ended.state == .failed && ended.error?.code == .expired, "\(name)")
            }
            try await store.apply(.retry, to: ["waiting"])
            #expect(try await store.transfer("waiting")?.state == .waiting)
        }
    }

    @Test(arguments: StoreKind.available)
    func anyNameButANulIsStored(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let names = [
                "a\nb", "'; DROP TABLE transfer; --", "{\"a\": \\u0000}", "$1 \\ \" %s", "\u{e9}", "e\u{301}", " ",
                "🦜\t\r\u{1b}[0m",
                String(repeating: "x", count: 1024),
            ]
            let added = try await store.add(names.map { name in try transfer(name) { $0.tag = name + "\u{0}" } })
            #expect(added.map { Array($0.utf8) } == names.map { Array($0.utf8) })
            for name in names {
                let found = try #require(try await store.transfer(name))
                #expect(Array(found.id.utf8) == Array(name.utf8) && Array(found.destination.utf8) == Array(name.utf8))
                #expect(found.tag == name + "\u{0}")
            }
            for name in ["a\u{0}b", "", String(repeating: "x", count: 1025)] {
                #expect(try await failure { _ = try transfer(name) }.code == .invalidOptions)
            }
        }
    }

    @Test func aCredentialOfTheCallIsRefused() async throws {
        let call = try storedCall().header(.authorization, "secret")
        let error = try await failure { _ = try TransferDescription("a", download: call, to: "a") }
        #expect(error.code == .credentialRefused && !error.message.contains("secret"))
        let session = try HTTPSession { $0.headerFields = [.authorization: "Bearer hidden"] }
        let own = session.get("http://127.0.0.1:9/a")
        let ownError = try await failure { _ = try TransferDescription("a", download: own, to: "a") }
        #expect(ownError.code == .credentialRefused)
        await session.shutdown(.immediate)
    }

    @Test(arguments: StoreKind.available)
    func changesAreToldToOtherPrograms(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let (writer, reader) = (try await place.open(), try await place.open())
            let news = NewsCount()
            let changes = reader.changes()
            let reading = Task { for await _ in changes { news.add() } }
            func untilTold(_ change: () async throws -> Void) async throws {
                let before = news.value
                try await change()
                while news.value == before { try await Task.sleep(for: .milliseconds(2)) }
            }
            try await untilTold { try await writer.add([transfer("a")]) }
            try await untilTold { try await writer.apply(.pause, to: ["a"]) }
            try await untilTold { try await writer.apply(.resume, to: ["a"]) }
            let lease = try await writer.leaseOne()
            try await untilTold { try await writer.end(lease, with: .completed) }
            reading.cancel()
        }
    }

    @Test(arguments: StoreKind.available)
    func transfersAreListedInParts(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add((0..<25).map { try transfer("\($0)") })
            try await store.apply(.pause, to: (0..<25).filter { $0 % 2 == 1 }.map { "\($0)" })
            var (found, last): ([String], StoredTransfer?) = ([], nil)
            while true {
                let part = try await store.transfers(in: [.waiting, .running], after: last, limit: 4)
                guard let end = part.last else { break }
                found += part.map(\.id)
                last = end
            }
            #expect(found == (0..<25).filter { $0 % 2 == 0 }.map { "\($0)" })
            #expect(try await store.transfers(in: [], after: nil, limit: 4).isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func workersAtTheSameTimeLeaseDifferentTransfers(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let stores = [try await place.open(), try await place.open()]
            try await stores[0].add((0..<400).map { try transfer("\($0)") })
            let leased = try await withThrowingTaskGroup(of: [String].self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        var mine: [String] = []
                        while try await stores[0].timeUntilReady() == .zero {
                            let leases = try await stores[worker % 2].lease(7, by: "\(worker)", for: .seconds(60))
                            mine += leases.map(\.transfer.id)
                        }
                        return mine
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(leased.count == 400 && Set(leased).count == 400)
        }
    }

    /// The environment variable `LINNET_BACKGROUND_TASKS` sets a tenth of the number.
    @Test(arguments: StoreKind.available)
    func aLongQueueIsFast(_ kind: StoreKind) async throws {
        let tenth = ProcessInfo.processInfo.environment["LINNET_BACKGROUND_TASKS"].flatMap { Int($0) } ?? 300
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let clock = ContinuousClock()
            let adding = try await clock.measure {
                for part in 0..<10 {
                    try await store.add((0..<tenth).map { try transfer("\(part)-\($0)") })
                }
            }
            let working = try await clock.measure {
                for lease in try await place.open().lease(100, by: "a", for: .seconds(60)) {
                    try await store.end(lease, with: .completed)
                }
            }
            var counts: [BackgroundTask.State: Int] = [:]
            let counting = try await clock.measure { counts = try await store.counts() }
            #expect(counts == [.waiting: 10 * tenth - 100, .completed: 100])
            print("\(kind): \(10 * tenth) added in \(adding), 100 done in \(working), counted in \(counting)")
            #expect(working < .seconds(10) && counting < .seconds(5))
        }
    }
}
