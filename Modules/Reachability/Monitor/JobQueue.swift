/// Runs blocking work on its own threads, at most four at a time. Only the engine's thread uses it.
///
/// The engine's thread starts the threads, so that they inherit its network namespace.
struct JobQueue: Sendable {
    struct Job: Sendable {
        /// Returns the command with the result.
        let work: @Sendable () -> EngineMailbox.Command
        /// The command when no thread can be started.
        let failure: EngineMailbox.Command
    }

    private let mailbox: EngineMailbox
    private var running = 0
    private var waiting: [Job] = []

    init(_ mailbox: EngineMailbox) { self.mailbox = mailbox }

    mutating func add(_ job: Job) {
        waiting.append(job)
        startNext()
    }

    mutating func jobEnded() {
        running -= 1
        startNext()
    }

    private mutating func startNext() {
        guard running < Self.mostThreads, !waiting.isEmpty else { return }
        let job = waiting.removeFirst()
        let mailbox = mailbox
        do {
            try MonitoringThread {
                mailbox.post(job.work())
                mailbox.post(.jobEnded)
            }.detach()
            running += 1
        } catch {
            mailbox.post(job.failure)
        }
    }

    private static let mostThreads = 4
}
