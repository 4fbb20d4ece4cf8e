internal import Synchronization

/// Runs lookups on separate threads: a lookup may block while a name server does not answer, and must not delay event
/// loops or the evaluation of chains.
///
/// A thread is started when a lookup is added and fewer than the maximum run. It ends when no lookup waits.
final class LookupThreads: Sendable {
    /// Runs a lookup, or ends it with the error for which it cannot be run. Called once, unless it is withdrawn.
    typealias Job = @Sendable (TransportError?) -> Void
    typealias ID = LookupQueue<Job>.ID
    typealias Start = @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// The threads of the process.
    ///
    /// 16 threads: a name whose servers do not answer occupies one for about half a minute with the defaults of
    /// `resolv.conf(5)`, and the lookups of other names should not wait for it. 1,000 waiting lookups: the number of
    /// names in a cache. If servers answer, they take a few seconds; if not, further ones would only wait for their
    /// timeout.
    static let shared = LookupThreads(threads: 16, jobs: 1000)

    private let queue: Mutex<LookupQueue<Job>>
    private let start: Start

    /// - Parameters:
    ///   - threads: The maximum number of threads.
    ///   - jobs: The maximum number of lookups that wait for a thread.
    ///   - start: Starts a thread that runs the function, and returns whether it could be started.
    init(threads: Int, jobs: Int, start: @escaping Start = DetachedThread.start) {
        queue = Mutex(LookupQueue(threads: threads, jobs: jobs))
        self.start = start
    }

    /// Adds a lookup. If it cannot be run, it is ended before this returns.
    func add(_ id: ID, _ job: @escaping Job) {
        switch queue.withLock({ $0.add(job, id) }) {
        case .waits:
            break
        case .startThread:
            startThread()
        case .refused:
            job(
                TransportError(
                    .nameResolutionFailed,
                    "The name was not looked up, since too many lookups wait for name servers; try again later."))
        }
    }

    /// Removes a lookup unless it has begun.
    func withdraw(_ id: ID) {
        let withdrawn = queue.withLock { $0.withdraw(id) }
        // Released after unlocking.
        withExtendedLifetime(withdrawn) {}
    }

    private func startThread() {
        guard !start({ [self] in work() }) else { return }
        let error = TransportError(
            .nameResolutionFailed,
            "The name was not looked up, since the system could not start a thread for it; try again later.")
        for job in queue.withLock({ $0.threadFailed() }) { job(error) }
    }

    private func work() {
        while let job = queue.withLock({ $0.next() }) { job(nil) }
    }
}
