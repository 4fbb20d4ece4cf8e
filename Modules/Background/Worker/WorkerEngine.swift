internal import FoundationEssentials
internal import LinnetSession
internal import Synchronization

/// Leases transfers while there is room, and renews their leases.
actor WorkerEngine {
    /// A lease and its attempt.
    private struct Active {
        let attempt: WorkerAttempt
        let work: Task<Void, Never>
        /// The time at which the lease ends, unless it is renewed.
        var heldUntil: ContinuousClock.Instant
    }

    /// The wait after the store has failed, and the wait after other workers have locked what could be leased.
    private static let patience = Duration.seconds(1)
    private static let courtesy = Duration.milliseconds(100)
    /// The shortest time between two reactions to changes of the store.
    private static let pause = Duration.milliseconds(200)

    private let store: any TransferStore
    private let place: WorkerPlace
    private let configuration: TransferWorker.Configuration
    private let destination: @Sendable (StoredTransfer) async throws -> TransferWorker.Destination
    private let bandwidth: Bandwidth
    private let isStopping = Atomic(false)
    private let bell: AsyncStream<Void>.Continuation
    private let rings: AsyncStream<Void>

    private var active: [Int64: Active] = [:]
    private var renewing: Task<Void, Never>?
    /// Whether another renewal was asked for since the present one has begun, which may not know of the change.
    private var renewsAgain = false
    private var timer: Task<Void, Never>?
    /// The time at which parts of ended transfers were last looked for.
    private var sweptAt: ContinuousClock.Instant?

    init(
        store: any TransferStore, place: WorkerPlace, configuration: TransferWorker.Configuration,
        destination: @escaping @Sendable (StoredTransfer) async throws -> TransferWorker.Destination
    ) {
        self.store = store
        self.place = place
        self.configuration = configuration
        self.destination = destination
        bandwidth = Bandwidth(configuration.bytesPerSecond)
        (rings, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var duration: Duration { min(max(.seconds(1), configuration.leaseDuration), .seconds(7 * 86_400)) }
    private var mostActive: Int { max(1, configuration.maximumActive) }

    /// Asks for the end of the run.
    nonisolated func stop() {
        isStopping.store(true, ordering: .releasing)
        bell.yield()
    }

    /// Lets the next run begin. The request for the end of the last one cannot come any more.
    nonisolated func reset() { isStopping.store(false, ordering: .releasing) }

    // MARK: The run

    func run(untilEmpty: Bool) async -> BackgroundError? {
        let session: HTTPSession
        do {
            session = try configuration.session ?? HTTPSession()
        } catch {
            return BackgroundError(.invalidOptions, "The session cannot be made: \(error)", underlying: error)
        }
        let changes = store.changes()
        let listening = Task { await self.listen(to: changes) }
        let beating = Task { await self.beat() }
        await place.removeUnfinishedFiles()
        ring()
        await transfer(with: session, untilEmpty: untilEmpty)
        for transfer in active.values { transfer.attempt.control.stop() }
        while let transfer = active.values.first { await transfer.work.value }
        for task in [listening, beating, timer] { task?.cancel() }
        await renewing?.value
        if configuration.session == nil { await session.shutdown(.immediate) }
        return nil
    }

    private func transfer(with session: HTTPSession, untilEmpty: Bool) async {
        for await _ in rings {
            if isStopping.load(ordering: .acquiring) { return }
            do throws(BackgroundError) {
                try await sweep()
                if try await pass(session), untilEmpty { return }
            } catch {
                observe(.storeFailed, error: error)
                setTimer(Self.patience)
            }
        }
    }

    /// Removes parts of ended transfers, at times. No attempt begins meanwhile.
    private func sweep() async throws(BackgroundError) {
        let now = ContinuousClock.now
        if let sweptAt, now - sweptAt < configuration.sweepInterval { return }
        try await place.sweep(store, except: Set(active.keys))
        sweptAt = now
    }

    private func ring() { bell.yield() }

    private func setTimer(_ duration: Duration) {
        timer?.cancel()
        timer = Task { [clock = configuration.clock, bell] in
            do { try await clock.sleep(for: duration) } catch { return }
            bell.yield()
        }
    }

    private func listen(to changes: AsyncStream<Void>) async {
        for await _ in changes {
            ring()
            // A transfer may have been paused or cancelled.
            renew()
            do { try await configuration.clock.sleep(for: Self.pause) } catch { return }
        }
    }

    private func observe(
        _ kind: TransferWorker.Event.Kind, _ transfer: StoredTransfer? = nil, error: BackgroundError? = nil
    ) {
        configuration.observe?(TransferWorker.Event(kind: kind, transfer: transfer, error: error))
    }

    // MARK: Leases

    /// The transfers that there is room for.
    private var room: TransferLease.Room {
        var room = TransferLease.Room()
        if configuration.source == nil { room.kinds = [.download] }
        for transfer in active.values { _ = room.take(transfer.attempt.lease.transfer) }
        room.maximumPerHost = configuration.maximumActivePerHost
        return room
    }

    /// Leases transfers while there is room; returns whether the store has none that waits or is leased, of the kinds
    /// that the worker takes.
    private func pass(_ session: HTTPSession) async throws(BackgroundError) -> Bool {
        var wait = configuration.pollInterval
        while active.count < mostActive, !isStopping.load(ordering: .acquiring) {
            let room = room
            guard let ready = try await store.timeUntilReady(in: room) else {
                if active.isEmpty { return true }
                break
            }
            guard ready <= .zero else {
                wait = min(wait, ready)
                break
            }
            let now = ContinuousClock.now
            let leases = try await store.lease(
                mostActive - active.count, by: configuration.name, for: duration, in: room)
            for lease in leases { await begin(lease, until: now + duration, session) }
            if leases.isEmpty {
                wait = min(wait, Self.courtesy)
                break
            }
        }
        // Also a wait in the far future ends at times, because the clock of the store may be set.
        setTimer(min(max(.milliseconds(1), wait), .seconds(600)))
        return false
    }

    private func begin(_ lease: TransferLease, until end: ContinuousClock.Instant, _ session: HTTPSession) async {
        let number = lease.transfer.number
        // An attempt whose lease was lost may still be on its way out, with the same files.
        if let old = active[number] {
            old.attempt.control.stop()
            await old.work.value
        }
        let attempt = WorkerAttempt(
            lease: lease, store: store, place: place, session: session, configuration: configuration,
            leaseDuration: duration, bandwidth: bandwidth, destination: destination)
        observe(.leased, lease.transfer)
        let work = Task { await self.perform(attempt) }
        active[number] = Active(attempt: attempt, work: work, heldUntil: end)
    }

    private func perform(_ attempt: WorkerAttempt) async {
        let lease = attempt.lease
        let end = await attempt.run()
        while true {
            do throws(BackgroundError) {
                let transfer = try await store.end(lease, with: end)
                await attempt.removeFiles(after: transfer.state)
                observe(.ended, transfer)
                break
            } catch {
                if error.code != .leaseLost { observe(.storeFailed, error: error) }
                guard error.code != .leaseLost, ContinuousClock.now < heldUntil(lease) else {
                    observe(.leaseLost, lease.transfer)
                    break
                }
            }
            try? await configuration.clock.sleep(for: Self.patience)
        }
        active[lease.transfer.number] = nil
        ring()
    }

    private func heldUntil(_ lease: TransferLease) -> ContinuousClock.Instant {
        active[lease.transfer.number]?.heldUntil ?? .now
    }

    // MARK: Renewals

    private func beat() async {
        while true {
            do { try await configuration.clock.sleep(for: duration / 3) } catch { return }
            // The worker stops in time also when the store does not answer.
            for transfer in active.values where transfer.heldUntil <= .now { transfer.attempt.control.stop() }
            renew()
        }
    }

    private func renew() {
        guard !active.isEmpty else { return }
        guard renewing == nil else { return renewsAgain = true }
        renewing = Task {
            repeat {
                self.renewsAgain = false
                await self.renewAll()
            } while self.renewsAgain && !self.active.isEmpty
            self.renewing = nil
        }
    }

    private func renewAll() async {
        let now = ContinuousClock.now
        let attempts = active.values.map(\.attempt)
        let statuses: [TransferLease.Status]
        do throws(BackgroundError) {
            statuses = try await store.renew(attempts.map(\.renewal), for: duration)
        } catch {
            return observe(.storeFailed, error: error)
        }
        for (attempt, status) in zip(attempts, statuses) {
            if status != .held { attempt.control.stop() }
            let number = attempt.lease.transfer.number
            guard status != .lost, active[number]?.attempt.lease.fencingNumber == attempt.lease.fencingNumber else {
                continue
            }
            active[number]?.heldUntil = now + duration
        }
    }
}
