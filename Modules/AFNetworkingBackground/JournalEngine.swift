internal import Dispatch
internal import FoundationEssentials
internal import LinnetAFNetworking
internal import LinnetBackground
internal import Synchronization

/// Keeps the tasks of a background session in the journal of a `BackgroundSession`.
///
/// Commands of the program are performed in order by one task, and the events of the session are delivered by another.
/// An ended task stays in the journal until its blocks were called, so that a process that is killed before leaves its
/// end to the next one.
final class JournalEngine: BackgroundEngine {
    private enum Command: Sendable {
        case begin
        case add(BackgroundTransfer)
        case resume(Int)
        case suspend(Int)
        case cancel(Int)
        case remove(Int)
        case close(BackgroundEnding, then: @Sendable () -> Void)
    }

    private struct State {
        /// The transfers that have not ended.
        var transfers: [BackgroundTask.ID: BackgroundTransfer] = [:]
        /// The tasks that are in the journal, by their numbers.
        var tasks: [Int: BackgroundTask.ID] = [:]
        var isAdopted = false
        /// Whether further transfers are refused.
        var isClosed = false
    }

    /// The time that a program with the session has to give it up, before the tasks of an earlier process are taken to
    /// be its own.
    private static let patience = DispatchTimeInterval.milliseconds(1500)
    private static let longestWait = DispatchTimeInterval.seconds(10)

    private let settings: BackgroundSettings
    private let http: HTTPSession
    private let gate = OpeningGate()
    private let adoption = DispatchGroup()
    private let commands: AsyncStream<Command>
    private let input: AsyncStream<Command>.Continuation
    private let state = Mutex(State())

    /// Runs the functions that observe transfers.
    let execute: BlockExecutor

    init(_ settings: BackgroundSettings, _ http: HTTPSession, _ execute: @escaping BlockExecutor) {
        self.settings = settings
        self.http = http
        self.execute = execute
        (commands, input) = AsyncStream.makeStream()
        adoption.enter()
    }

    // MARK: Commands

    func open(adopt: @escaping @Sendable ([BackgroundTransfer]) -> Void) {
        gate.begin()
        Task { await run(adopt) }
    }

    func waitForAdoption() {
        gate.open()
        _ = adoption.wait(timeout: .now() + Self.longestWait)
    }

    func add(_ transfer: BackgroundTransfer) {
        // The session may be closed, and end, in between.
        if state.withLock({ $0.isClosed }) || hasEnded(input.yield(.add(transfer))) {
            Self.refuse(transfer, .sessionIsClosed)
        }
    }

    func resume(_ transfer: BackgroundTransfer) { input.yield(.resume(transfer.number)) }
    func suspend(_ transfer: BackgroundTransfer) { input.yield(.suspend(transfer.number)) }
    func cancel(_ transfer: BackgroundTransfer) { input.yield(.cancel(transfer.number)) }
    func remove(_ number: Int) { input.yield(.remove(number)) }

    func close(_ ending: BackgroundEnding, then: @escaping @Sendable () -> Void) {
        gate.open()
        state.withLock { $0.isClosed = true }
        if hasEnded(input.yield(.close(ending, then: then))) { then() }
    }

    private func hasEnded(_ result: AsyncStream<Command>.Continuation.YieldResult) -> Bool {
        if case .terminated = result { true } else { false }
    }

    // MARK: The session

    private func run(_ adopt: @escaping @Sendable ([BackgroundTransfer]) -> Void) async {
        await gate.wait()
        do throws(BackgroundError) {
            let background = try await open()
            let events = background.events
            let reading = Task { await read(events, of: background, adopt) }
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.patience) { self.endAdoption() }
            let then = await perform(on: background)
            await background.shutdown()
            await reading.value
            endAdoption()
            then?()
            forgetTransfers()
            input.finish()
            await refuse(.sessionIsClosed)
        } catch {
            adopt([])
            endAdoption()
            await refuse(error)
        }
    }

    /// Releases the transfers that are left to the next process, and refer to the engine.
    private func forgetTransfers() {
        let left = state.withLock { state in
            defer { (state.transfers, state.tasks) = ([:], [:]) }
            return state.transfers
        }
        // Not under the lock: a manager that is released with its transfers closes the session once more.
        withExtendedLifetime(left) {}
    }

    private func open() async throws(BackgroundError) -> BackgroundSession {
        try await BackgroundSession(settings.identifier, directory: settings.directory) {
            $0.session = http
            // A response is final, as on Apple's systems; the network is tried again until the task expires.
            $0.retryPolicy.statusCodes = []
            $0.retryPolicy.limit = .max
            // A task is removed when its end was reported.
            $0.keepsEndedTasks = .seconds(10 * 365 * 86_400)
        }
    }

    private func endAdoption() {
        let isFirst = state.withLock { state in
            defer { state.isAdopted = true }
            return !state.isAdopted
        }
        if isFirst { adoption.leave() }
    }

    /// Ends all transfers with the error of a session that cannot be opened, or has ended, until it is closed and no
    /// command is left.
    private func refuse(_ error: BackgroundError) async {
        for await command in commands {
            switch command {
            case .add(let transfer): Self.refuse(transfer, error)
            case .close(_, let then):
                input.finish()
                then()
            default: break
            }
        }
    }

    private static func refuse(_ transfer: BackgroundTransfer, _ error: BackgroundError) {
        transfer.end(BackgroundOutcome(url: transfer.originalRequest?.url, error: SessionError(error)))
    }

    // MARK: Performing

    /// Performs the commands until the session is closed. They wait until this process transfers the tasks.
    private func perform(on background: BackgroundSession) async -> (@Sendable () -> Void)? {
        var early: [Command] = []
        var hasBegun = false
        var closing: (@Sendable () -> Void)?
        for await command in commands {
            switch command {
            case .close(let ending, let then):
                closing = closing.map { former in { @Sendable in (former(), then()).1 } } ?? then
                guard hasBegun, ending != .leaving else {
                    refuse(early)
                    return closing
                }
                if ending == .cancelling { for number in state.withLock({ $0.tasks.keys }) { cancel(number) } }
            case .begin:
                hasBegun = true
                for command in early { await perform(command, on: background) }
                early = []
            default:
                if hasBegun { await perform(command, on: background) } else { early.append(command) }
            }
            if let closing, state.withLock({ $0.tasks.isEmpty }) { return closing }
        }
        return closing
    }

    private func cancel(_ number: Int) { input.yield(.cancel(number)) }

    /// Ends the transfers that were not stored before the session was closed.
    private func refuse(_ commands: [Command]) {
        for case .add(let transfer) in commands { Self.refuse(transfer, .sessionIsClosed) }
    }

    private func perform(_ command: Command, on background: BackgroundSession) async {
        switch command {
        case .add(let transfer): await store(transfer, in: background)
        case .resume(let number), .suspend(let number): await align(number, in: background)
        case .cancel(let number): if let id = id(number) { _ = try? await background.cancel(id) }
        case .remove(let number):
            guard let id = id(number) else { return }
            // A file that could not be moved is of no use to anyone. If the task stays, the next process tries again.
            if (try? await background.remove(id)) == true { background.removeDownload(number) }
            state.withLock { $0.tasks[number] = nil }
        case .begin, .close: break
        }
    }

    /// Brings a task in line with its transfer. The commands of several threads can come in another order than their
    /// changes of the transfer, so that its present state counts.
    private func align(_ number: Int, in background: BackgroundSession) async {
        guard let id = id(number), let transfer = state.withLock({ $0.transfers[id] }) else { return }
        switch transfer.state {
        case .running: _ = try? await background.resume(id)
        case .suspended: _ = try? await background.pause(id)
        case .cancelling: _ = try? await background.cancel(id)
        default: break
        }
    }

    private func id(_ number: Int) -> BackgroundTask.ID? { state.withLock { $0.tasks[number] } }

    private func store(_ transfer: BackgroundTransfer, in background: BackgroundSession) async {
        do throws(BackgroundError) {
            let task = try await Self.trying(transfer.attempts) { () async throws(BackgroundError) in
                try await background.accept(transfer, settings)
            }
            state.withLock { state in
                state.transfers[task.id] = transfer
                state.tasks[transfer.number] = task.id
            }
            // It may have been suspended or cancelled before it was stored.
            if transfer.state != .running { await align(transfer.number, in: background) }
            // Events before that were of an unknown task. The task is stored, so its events count from now on, also if
            // it cannot be read again.
            if let task = try? await background.task(task.id) { deliver(task, in: background) }
        } catch {
            Self.refuse(transfer, error)
        }
    }

    /// Performs a function again if the journal cannot be written, up to a number of times.
    static func trying<Value: Sendable>(
        _ attempts: Int, _ perform: () async throws(BackgroundError) -> Value
    ) async throws(BackgroundError) -> Value {
        for _ in 1..<max(1, attempts) {
            do throws(BackgroundError) {
                return try await perform()
            } catch  where error.code == .storageFailed {
                continue
            }
        }
        return try await perform()
    }

    // MARK: Events

    private func read(
        _ events: EventSequence<BackgroundEvent>, of background: BackgroundSession,
        _ adopt: @Sendable ([BackgroundTransfer]) -> Void
    ) async {
        for await event in events {
            if event.kind == .becameRunner {
                await self.adopt(from: background, adopt)
            } else if let task = event.task {
                deliver(task, in: background)
            }
        }
    }

    /// Takes the tasks that an earlier process has left, when this process begins to transfer them.
    private func adopt(
        from background: BackgroundSession, _ adopt: @Sendable ([BackgroundTransfer]) -> Void
    ) async {
        let tasks = (try? await background.tasks) ?? []
        var adopted: [BackgroundTransfer] = []
        for task in tasks {
            guard let transfer = background.transfer(of: task, self) else { continue }
            state.withLock { state in
                state.transfers[task.id] = transfer
                state.tasks[transfer.number] = task.id
            }
            adopted.append(transfer)
        }
        adopt(adopted)
        endAdoption()
        input.yield(.begin)
        for task in tasks { deliver(task, in: background) }
    }

    private func deliver(_ task: BackgroundTask, in background: BackgroundSession) {
        let transfer = state.withLock { state in
            guard task.state.isEnd else { return state.transfers[task.id] }
            return state.transfers.removeValue(forKey: task.id)
        }
        guard let transfer else { return }
        transfer.take(task.progress)
        if task.state.isEnd { transfer.end(BackgroundOutcome(task)) }
    }
}

extension BackgroundError {
    fileprivate static let sessionIsClosed = BackgroundError(.shutDown, "The session was invalidated.")
}
