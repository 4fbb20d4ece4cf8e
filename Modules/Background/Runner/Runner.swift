internal import FoundationEssentials
internal import LinnetSession
internal import LinnetTransport

/// Transfers the tasks of a journal while this process has the lock of the directory.
///
/// A pass brings the transfers in line with the journal: it stops those with a wish, and begins tasks while there is
/// room. Each change of the journal, the end of each attempt, and the end of each wait asks for a pass.
actor Runner {
    private struct Active {
        let record: TaskRecord
        let host: String
        let control: AttemptControl
        let work: Task<Void, Never>
    }

    /// The time that an agent leaves to the program that has claimed its lock: a second, in steps.
    private static let courtesySteps = 100
    private static let courtesyStep = Duration.milliseconds(10)

    private let journal: Journal
    private let folder: BackgroundFolder
    private let session: HTTPSession
    private let configuration: BackgroundSession.Configuration
    private let faults: FaultPoints
    private let feed: Feed
    private let folders = FolderSynchronizer()
    private let bandwidth = Bandwidth()
    private let bell: AsyncStream<Void>.Continuation
    private let rings: AsyncStream<Void>

    private let presence: Presence
    private var lock: RunnerLock?
    private var active: [BackgroundTask.ID: Active] = [:]
    /// The ends of attempts that could not be written to the journal yet.
    private var unwritten: [(record: TaskRecord, end: Attempt.End)] = []
    private var loop: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var isBeginning = false
    /// Whether the transfers are to stop, for a program that has claimed the lock.
    private var isYielding = false
    /// Whether the transfers are to stop for good.
    private var isEnding = false

    init(
        journal: Journal, folder: BackgroundFolder, session: HTTPSession,
        configuration: BackgroundSession.Configuration, feed: Feed, presence: Presence
    ) {
        self.journal = journal
        self.folder = folder
        self.session = session
        self.configuration = configuration
        self.feed = feed
        self.presence = presence
        faults = journal.faults
        (rings, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var isRunner: Bool { lock != nil }

    /// Asks for a pass.
    nonisolated func ring() { bell.yield() }

    // MARK: The lock

    /// Takes the lock of the directory and the tasks of the session that had it before. If another session has it,
    /// waits for its end in the background.
    func begin() async throws(BackgroundError) {
        guard !isEnding, !isYielding, !isBeginning, lock == nil, configuration.role != .observer else { return }
        isBeginning = true
        defer { isBeginning = false }
        guard let lock = try RunnerLock.take(folder) else {
            presence.awaitRunnersEnd()
            // An agent gives the lock up, and another program ignores the claim.
            if configuration.role == .program { presence.claim() }
            return
        }
        let now = Self.now
        for record in try await journal.takeOver(at: now, recreations: configuration.attemptsToRecreateUploads) {
            try await adopt(record, at: now)
        }
        try await removeOldTasks(at: now)
        try await sweep()
        guard !isEnding else { return }
        self.lock = lock
        if loop == nil { loop = Task { await self.run() } }
        feed.postBecameRunner()
        ring()
    }

    /// Reacts to news of the directory.
    func hear(_ news: Presence.News) async {
        switch news {
        case .changed:
            // The pass of a runner reads the changes too.
            if lock == nil { await feed.pull() } else { ring() }
        case .claimed:
            guard configuration.role == .agent, lock != nil else { return }
            isYielding = true
            ring()
        case .runnerGone:
            do throws(BackgroundError) {
                try await begin()
            } catch {
                // The journal cannot be used now. The end of the runner is told again.
                presence.awaitRunnersEnd()
            }
        }
    }

    /// Stops all transfers, which keep their parts, and gives the lock up.
    func end() async {
        isEnding = true
        bell.yield()
        bell.finish()
        await loop?.value
        timer?.cancel()
    }

    private func release() async {
        timer?.cancel()
        faults(.willStop)
        for transfer in active.values { transfer.control.stop() }
        for transfer in Array(active.values) { await transfer.work.value }
        // If the journal still cannot be written, the next session finds interrupted attempts.
        try? await writeEnds()
        faults(.didStop)
        await publish()
        lock = nil
    }

    /// Gives the lock to the program that has claimed it, and waits for the end of that program.
    private func yield() async {
        await release()
        timer = Task { [clock = configuration.clock, folder] in
            // The program most often takes the lock at once. Then its end is told.
            for _ in 0..<Self.courtesySteps {
                if RunnerLock.isTaken(folder) { break }
                try? await clock.sleep(for: Self.courtesyStep)
            }
            self.isYielding = false
            await self.hear(.runnerGone)
        }
    }

    private func publish() async {
        if await feed.pull() { presence.announceChange() }
    }

    /// Decides on a task whose file was being moved when its process ended.
    private func adopt(_ record: TaskRecord, at now: Int64) async throws(BackgroundError) {
        guard let state = record.result.placing else { return }
        let file = PlacedFile(record.definition)
        let isPlaced = try await onFileThreads { () throws(BackgroundError) in
            guard file.hasPlaced(state) else { return false }
            try file.synchronizeFolder()
            file.removeParts()
            return true
        }
        var result = record.result
        result.placing = nil
        try await journal.apply(
            isPlaced ? .succeed : .interrupt, to: record.id, at: now,
            recreations: configuration.attemptsToRecreateUploads, result: result)
        if isPlaced { await removePartFiles(of: record.id) }
    }

    // MARK: Passes

    private func run() async {
        for await _ in rings {
            if isEnding { break }
            guard lock != nil else { continue }
            if isYielding {
                await yield()
                continue
            }
            do throws(BackgroundError) {
                try await pass()
            } catch {
                // The journal may be locked or the disk full for a while; the transfers go on.
                setTimer(.seconds(5))
            }
            await publish()
        }
        await release()
    }

    private func pass() async throws(BackgroundError) {
        let now = Self.now
        let recreations = configuration.attemptsToRecreateUploads
        try await writeEnds()
        let turn = try await journal.takeTurn(room, at: now, recreations: recreations)
        for record in turn.started { begin(record) }
        bandwidth.setRate(turn.bandwidthLimit)
        for (id, transfer) in active { transfer.control.bandwidth.setRate(turn.bandwidthLimits[id]) }
        for id in turn.tasksToStop { active[id]?.control.stop() }
        if turn.hasExpired { try await journal.expire(at: now, recreations: recreations) }
        if let next = turn.nextTime { setTimer(.milliseconds(max(1, next - Self.now))) }
    }

    private func writeEnds() async throws(BackgroundError) {
        while let (record, end) = unwritten.first {
            do throws(BackgroundError) {
                try await write(end, of: record)
            } catch  where error.code == .noSuchTask {}
            unwritten.removeFirst()
        }
    }

    private var room: Journal.Room {
        let hosts = active.values.filter { !$0.control.hasReceived }.map(\.host)
        var room = Journal.Room(
            for: configuration.maximumActive, ofHost: configuration.maximumActivePerHost, beside: hosts,
            received: active.count - hosts.count)
        if isEnding || isYielding { room.tasks = 0 }
        return room
    }

    private func setTimer(_ duration: Duration) {
        timer?.cancel()
        // Also a wait in the far future ends at times, because the system's clock may be set.
        let duration = min(duration, .seconds(600))
        timer = Task { [clock = configuration.clock, bell] in
            do { try await clock.sleep(for: duration) } catch { return }
            bell.yield()
        }
    }

    static var now: Int64 { Date.now.milliseconds }

    // MARK: Attempts

    private func begin(_ record: TaskRecord) {
        let control = AttemptControl(bytesPerSecond: record.definition.bytesPerSecond)
        let attempt = Attempt(
            record: record, session: session,
            store: { [journal] result throws(BackgroundError) in
                try await journal.store(result, of: record.id, attempt: record.machine.attempts, durably: true)
            }, folder: folder, folders: folders, policy: configuration.retryPolicy, control: control, faults: faults,
            bandwidth: bandwidth, lookUp: configuration.credential, report: { [feed] in feed.report($0, record) },
            didReceive: { [bell] in bell.yield() })
        // The attempt mostly waits for the network, and works on files otherwise.
        let work = Task(executorPreference: FileExecutor.shared) { await self.write(await attempt.run(), of: attempt) }
        active[record.id] = Active(record: record, host: record.definition.host, control: control, work: work)
    }

    private func write(_ end: Attempt.End, of attempt: Attempt) async {
        let record = attempt.record
        faults(.willEnd)
        do throws(BackgroundError) {
            try await write(end, of: record)
        } catch {
            // The disk of the journal may be full. The next pass writes the end again.
            if error.code != .noSuchTask { unwritten.append((record, end)) }
        }
        // The next attempt of the task may have begun since its end was written.
        if active[record.id]?.control === attempt.control {
            feed.forget(record.id)
            active[record.id] = nil
        }
        ring()
    }

    private func write(_ end: Attempt.End, of record: TaskRecord) async throws(BackgroundError) {
        var event = end.event
        if case .interrupt = event, record.expiry <= Self.now { event = .expire }
        let ended = try await journal.apply(
            event, to: record.id, attempt: record.machine.attempts, at: Self.now,
            recreations: configuration.attemptsToRecreateUploads, result: end.result)
        faults(.didEnd)
        if ended.machine.state == .cancelled { await removeFiles(of: ended) }
    }

    // MARK: Files

    /// Removes the files of a task that leaves none.
    func removeFiles(of record: TaskRecord) async {
        guard record.definition.kind == .download else { return }
        let file = PlacedFile(record.definition)
        _ = try? await onFileThreads { () throws(BackgroundError) in file.removeLeftovers() }
        await removePartFiles(of: record.id)
    }

    private func removePartFiles(of id: BackgroundTask.ID) async {
        let folder = folder
        _ = try? await onFileThreads { () throws(BackgroundError) in folder.removePartFiles(of: id) }
    }

    /// Removes the files of tasks that the journal does not have, or that have completed.
    private func sweep() async throws(BackgroundError) {
        let folder = folder
        let found = try await onFileThreads { () throws(BackgroundError) in
            folder.removeUnfinishedPartFiles()
            return folder.tasksWithPartFiles()
        }
        for id in found {
            let state = try await journal.task(id)?.machine.state
            if state == nil || state == .completed || state == .cancelled { await removePartFiles(of: id) }
        }
    }

    private func removeOldTasks(at now: Int64) async throws(BackgroundError) {
        for id in try await journal.ended(before: now - configuration.keepsEndedTasks.milliseconds) {
            if let record = try await journal.remove(id) { await removeFiles(of: record) }
        }
    }
}
