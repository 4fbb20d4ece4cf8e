internal import FoundationEssentials
internal import LinnetSession

/// Transfers the tasks of a journal while this process has the lock of the directory.
///
/// A pass brings the transfers in line with the journal: it stops those with a wish, and begins tasks while there is
/// room. Each change of the journal, the end of each attempt, and the end of each wait asks for a pass.
actor Runner {
    private struct Active {
        let record: TaskRecord
        let control: AttemptControl
        let work: Task<Void, Never>
    }

    private let journal: Journal
    private let folder: BackgroundFolder
    private let session: HTTPSession
    private let configuration: BackgroundSession.Configuration
    private let faults: FaultPoints
    private let feed: Feed
    private let bell: AsyncStream<Void>.Continuation
    private let rings: AsyncStream<Void>

    private var lock: RunnerLock?
    private var active: [BackgroundTask.ID: Active] = [:]
    private var loop: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var isStopping = false

    init(
        _ journal: Journal, _ folder: BackgroundFolder, _ session: HTTPSession,
        _ configuration: BackgroundSession.Configuration, _ feed: Feed
    ) {
        self.journal = journal
        self.folder = folder
        self.session = session
        self.configuration = configuration
        self.feed = feed
        faults = journal.faults
        (rings, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var isRunner: Bool { lock != nil }

    /// Asks for a pass.
    nonisolated func ring() { bell.yield() }

    // MARK: The lock

    /// Takes the lock of the directory and the tasks of the process that had it before; returns false if another
    /// session has it.
    func begin() async throws(BackgroundError) -> Bool {
        guard !isStopping, self.lock == nil else { return self.lock != nil }
        guard let lock = try RunnerLock.take(folder.lock) else { return false }
        let now = Self.now
        for record in try await journal.takeOver(at: now, recreations: configuration.attemptsToRecreateUploads) {
            try await adopt(record, at: now)
        }
        try await removeOldTasks(at: now)
        self.lock = lock
        loop = Task { await self.run() }
        ring()
        return true
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
        if isPlaced { removeResumeFile(record.id) }
    }

    /// Stops all transfers, which keep their parts, and gives the lock up.
    func end() async {
        isStopping = true
        await release()
        bell.finish()
        await loop?.value
    }

    private func release() async {
        timer?.cancel()
        faults(.willStop)
        for transfer in active.values { transfer.control.stop() }
        for transfer in Array(active.values) { await transfer.work.value }
        faults(.didStop)
        lock = nil
    }

    // MARK: Passes

    private func run() async {
        for await _ in rings {
            guard !isStopping else { return }
            do throws(BackgroundError) {
                try await pass()
            } catch {
                // The journal may be locked or the disk full for a while; the transfers go on.
                setTimer(.seconds(5))
            }
            await feed.pull()
        }
    }

    private func pass() async throws(BackgroundError) {
        let now = Self.now
        let recreations = configuration.attemptsToRecreateUploads
        for id in try await journal.tasksToStop(at: now) { active[id]?.control.stop() }
        try await journal.expire(at: now, recreations: recreations)
        while !isStopping, active.count < max(1, configuration.maximumActive) {
            guard let record = try await journal.startNext(room, at: now, recreations: recreations) else { break }
            begin(record)
        }
        if let next = try await journal.nextTime(after: now) { setTimer(.milliseconds(max(1, next - Self.now))) }
    }

    private var room: Journal.Room {
        let counts = Dictionary(grouping: active.values) { $0.record.definition.host }.mapValues(\.count)
        let limit = max(1, configuration.maximumActivePerHost)
        return Journal.Room(fullHosts: Set(counts.filter { $0.value >= limit }.keys))
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
        let control = AttemptControl()
        let attempt = Attempt(
            record: record, session: session, journal: journal, folder: folder, policy: configuration.retryPolicy,
            control: control, faults: faults, report: { [feed] in feed.report($0, record) })
        let work = Task { await self.perform(attempt) }
        active[record.id] = Active(record: record, control: control, work: work)
    }

    private func perform(_ attempt: Attempt) async {
        let record = attempt.record
        let end = await attempt.run()
        faults(.willEnd)
        var event = end.event
        if case .interrupt = event, record.expiry <= Self.now { event = .expire }
        do throws(BackgroundError) {
            let ended = try await journal.apply(
                event, to: record.id, attempt: record.machine.attempts, at: Self.now,
                recreations: configuration.attemptsToRecreateUploads, result: end.result)
            faults(.didEnd)
            if ended.machine.state == .cancelled { await removeFiles(of: ended) }
        } catch {
            // The journal cannot be written now. The next process, or the next opening, finds an interrupted attempt.
        }
        feed.forget(record.id)
        active[record.id] = nil
        ring()
    }

    // MARK: Files

    /// Removes the files of a task that leaves none.
    func removeFiles(of record: TaskRecord) async {
        guard record.definition.kind == .download else { return }
        let file = PlacedFile(record.definition)
        _ = try? await onFileThreads { () throws(BackgroundError) in file.removeLeftovers() }
        removeResumeFile(record.id)
    }

    private func removeResumeFile(_ id: BackgroundTask.ID) {
        try? FileManager.default.removeItem(atPath: folder.resumeFile(id))
    }

    private func removeOldTasks(at now: Int64) async throws(BackgroundError) {
        for id in try await journal.ended(before: now - configuration.keepsEndedTasks.milliseconds) {
            if let record = try await journal.remove(id) { await removeFiles(of: record) }
        }
    }
}
