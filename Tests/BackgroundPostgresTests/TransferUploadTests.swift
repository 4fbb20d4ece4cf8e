import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

/// Uploads of workers over all stores.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(3)))
struct TransferUploadTests {
    @Test(arguments: StoreKind.available)
    func aFileIsSentAndTheResponseIsKept(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            let names = ["a.png", "b\nc", "d"]
            let folder = try fleet.source("a.png", content("1", 100_000))
            for name in names.dropFirst() { try fleet.source(name, content(name, 50)) }
            try await fleet.store.add(
                names.enumerated().map { try fleet.upload("\($0.offset)", from: $0.element) })
            let described = try #require(try await fleet.store.transfer("0"))
            #expect(described.kind == .upload && described.source == "a.png" && described.destination.isEmpty)
            try await fleet.worker { $0.source = { try .file($0.source ?? "", in: folder) } }.run(untilEmpty: true)
            #expect(try await fleet.store.counts() == [.completed: 3])
            let sent = try #require(try await fleet.store.transfer("0"))
            #expect(sent.status == .created && sent.responseBody == Data("thanks".utf8) && sent.attempts == 1)
            #expect(sent.progress.fraction == 1 && sent.responseFields[.contentLength] == "6")
            let uploads = fleet.requests.uploads
            #expect(uploads.count == 3)
            let first = try #require(uploads.first { $0.path == "/0" })
            #expect(first.body == content("1", 100_000) && first.method == .put)
            #expect(first.headerFields[.contentType] == "image/png")
            #expect(fleet.files.isEmpty)
        }
    }

    /// The digest is that of "abc" (FIPS 180-2, appendix B.1).
    @Test(arguments: StoreKind.available)
    func aFileIsCheckedBeforeEachAttempt(_ kind: StoreKind) async throws {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        try await withFleet(kind) { fleet in
            let folder = try fleet.source("right", Data("abc".utf8))
            try fleet.source("wrong", Data("abd".utf8))
            try fleet.source("long", Data("abcd".utf8))
            func check(_ options: inout TransferOptions) { (options.sha256, options.expectedSize) = (digest, 3) }
            try await fleet.store.add([
                fleet.upload("right", check), fleet.upload("wrong", check), fleet.upload("long", check),
                fleet.upload("missing", check), fleet.upload("outside", from: "../right", check),
                fleet.upload("folder", from: "sub", check),
            ])
            try FileManager.default.createDirectory(
                at: folder.appending(path: "sub"), withIntermediateDirectories: true)
            // The file changes before the second attempt.
            fleet.requests.answer(.status(.serviceUnavailable))
            try await fleet.store.apply(.pause, to: ["wrong", "long", "missing", "outside", "folder"])
            let worker = try await fleet.worker {
                $0.source = { transfer in
                    if transfer.attempts == 2 {
                        try Data("xyz".utf8).write(to: folder.appending(path: "right"), options: .atomic)
                    }
                    return try .file(transfer.source ?? "", in: folder)
                }
            }
            try await worker.run(untilEmpty: true)
            try await fleet.store.apply(.resume, to: ["wrong", "long", "missing", "outside", "folder"])
            try await worker.run(untilEmpty: true)
            let all = try await fleet.store.all()
            #expect(all.allSatisfy { $0.state == .failed && $0.error?.code == .sourceChanged })
            #expect(all.map(\.attempts) == [2, 1, 1, 1, 1, 1])
            #expect(fleet.requests.uploads.map(\.path) == ["/right"])
        }
    }

    @Test(arguments: StoreKind.available)
    func aFileThatWasMadeForTheAttemptIsRemoved(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            let folder = try fleet.source("kept", Data())
            try await fleet.store.add([fleet.upload("a"), fleet.upload("b")])
            fleet.requests.answer(.status(.serviceUnavailable), .status(.notFound))
            let made = Mutex(0)
            let worker = try await fleet.worker {
                $0.source = { transfer in
                    let count = made.withLock { made in
                        made += 1
                        return made
                    }
                    return .temporaryFile(
                        try fleet.source("made-\(count)", content(transfer.id, 10)).appending(path: "made-\(count)"))
                }
            }
            try await worker.run(untilEmpty: true)
            #expect(made.withLock { $0 } == 3)
            #expect(try await fleet.store.counts() == [.completed: 1, .failed: 1])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["kept"])
        }
    }

    /// An upload that was interrupted is sent again, a number of times; a download any number of times.
    @Test(arguments: StoreKind.available)
    func anInterruptedUploadIsCreatedAgainSomeTimes(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.add([
                transfer("download"),
                TransferDescription("usual", upload: storedCall(), from: "a"),
                TransferDescription("once", upload: storedCall(), from: "a") { $0.attemptsToRecreateUploads = 1 },
                TransferDescription("never", upload: storedCall(), from: "a") { $0.attemptsToRecreateUploads = 0 },
            ])
            var given: [String: Int] = [:]
            for _ in 0..<8 {
                for lease in try await store.lease(9, by: "a", for: .milliseconds(1)) {
                    given[lease.transfer.id, default: 0] += 1
                }
                // The leases end, whether they are given back or not.
                while try await store.timeUntilReady() ?? .zero > .zero { try await Task.sleep(for: .milliseconds(1)) }
                _ = try await store.lease(0, by: "a", for: .seconds(1))
            }
            #expect(given == ["download": 8, "usual": 4, "once": 2, "never": 1])
            for name in ["usual", "once", "never"] {
                let failed = try #require(try await store.transfer(name))
                #expect(failed.state == .failed && failed.error?.code == .interrupted, "\(name)")
            }
            try await store.apply(.retry, to: ["never"])
            let lease = try #require(
                try await store.lease(9, by: "a", for: .seconds(60)).first { $0.transfer.id == "never" })
            #expect(try await store.end(lease, with: .givenBack).state == .failed)
        }
    }

    /// The worker finds the file for longer than its lease lasts, and does not know that it has lost it.
    @Test(arguments: StoreKind.available)
    func aWorkerThatWasAwaySendsNothing(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            let folder = try fleet.source("a", content("a"))
            try await fleet.store.add([fleet.upload("a")])
            let events = Mutex<[TransferWorker.Event.Kind]>([])
            let (began, goOn) = (Signal(), Signal())
            let isBack = Atomic(false)
            let store = DeafStore(base: fleet.store, hears: { isBack.load(ordering: .acquiring) })
            let worker = try await fleet.worker("worker", store) {
                $0.leaseDuration = .seconds(1)
                $0.maximumActive = 1
                $0.observe = { event in events.withLock { $0.append(event.kind) } }
                $0.source = { transfer in
                    began.fire()
                    await goOn.wait()
                    return try .file(transfer.source ?? "", in: folder)
                }
            }
            let running = Task { try await worker.run() }
            await began.wait()
            let other = try await fleet.store.leaseOne(by: "other")
            isBack.store(true, ordering: .releasing)
            goOn.fire()
            while !events.withLock({ $0.contains(.leaseLost) }) { try await Task.sleep(for: .milliseconds(5)) }
            #expect(fleet.requests.uploads.isEmpty)
            #expect(try await fleet.store.transfer("a")?.worker == "other")
            #expect(try await fleet.store.end(other, with: .completed).state == .completed)
            running.cancel()
            try await running.value
        }
    }

    @Test(arguments: StoreKind.available)
    func aWorkerWithoutFilesTakesDownloadsOnly(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            try await fleet.store.add([fleet.upload("a"), fleet.transfer("b"), fleet.upload("c")])
            try await fleet.worker().run(untilEmpty: true)
            #expect(try await fleet.store.counts() == [.waiting: 2, .completed: 1])
            var room = TransferLease.Room()
            room.kinds = [.download]
            #expect(try await fleet.store.timeUntilReady(in: room) == nil)
            room.kinds = []
            #expect(try await fleet.store.timeUntilReady(in: room) == nil)
            #expect(try await fleet.store.lease(9, by: "a", for: .seconds(9), in: room).isEmpty)
            room.kinds = [.upload]
            #expect(try await fleet.store.timeUntilReady(in: room) == .zero)
            let leases = try await fleet.store.lease(9, by: "a", for: .seconds(9), in: room)
            #expect(leases.map(\.transfer.id) == ["a", "c"])
        }
    }

    /// The stored key makes the attempts one request for the server.
    @Test(arguments: StoreKind.available)
    func aPostIsRepeatedIfItHasAnIdempotencyKey(_ kind: StoreKind) async throws {
        try await withFleet(kind) { fleet in
            let folder = try fleet.source("a", content("a"))
            let call = fleet.session.post(try fleet.server.url("/a").absoluteString)
            try await fleet.store.add([
                TransferDescription("with", upload: call.options { $0.sendsIdempotencyKey = true }, from: "a"),
                TransferDescription("without", upload: call, from: "a"),
            ])
            fleet.requests.answer(.status(.serviceUnavailable), .status(.serviceUnavailable))
            try await fleet.worker { $0.source = { try .file($0.source ?? "", in: folder) } }.run(untilEmpty: true)
            #expect(try await fleet.store.all().map(\.state) == [.completed, .failed])
            let name = try #require(HTTPField.Name("Idempotency-Key"))
            let keys = fleet.requests.uploads.compactMap { $0.headerFields[name] }
            #expect(keys.count == 2 && Set(keys).count == 1)
        }
    }

    @Test func anUploadWithABodyIsRefused() async throws {
        let call = try storedCall().body(.data(Data("x".utf8)))
        let error = try await failure { _ = try TransferDescription("a", upload: call, from: "a") }
        #expect(error.code == .invalidRequest)
        for name in ["", "a\u{0}"] {
            let named = try await failure { _ = try TransferDescription("a", upload: storedCall(), from: name) }
            #expect(named.code == .invalidOptions)
        }
        let negative = try await failure {
            _ = try TransferDescription("a", upload: storedCall(), from: "a") { $0.attemptsToRecreateUploads = -1 }
        }
        #expect(negative.code == .invalidOptions)
    }
}
