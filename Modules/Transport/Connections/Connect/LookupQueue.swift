/// The lookups that wait for a thread, in order, and the number of threads that run lookups.
///
/// `Job` is the work of a thread.
struct LookupQueue<Job> {
    /// A waiting lookup: its cache, and the number of its query there. The job keeps the cache alive.
    struct ID: Hashable, Sendable {
        let owner: ObjectIdentifier
        let number: UInt64
    }

    enum Admission {
        /// The job waits for one of the threads.
        case waits
        /// The job waits; start another thread, which was counted.
        case startThread
        /// Too many jobs wait.
        case refused
    }

    private let mostThreads: Int
    private let mostJobs: Int
    private var threads = 0
    private var jobs: [ID: Job] = [:]
    /// The order of the jobs, from `first`. Withdrawn jobs stay in it until it is compacted.
    private var order: [ID] = []
    private var first = 0

    /// - Parameters:
    ///   - threads: The maximum number of threads.
    ///   - jobs: The maximum number of jobs that wait.
    init(threads: Int, jobs: Int) {
        mostThreads = threads
        mostJobs = jobs
    }

    /// The number of waiting jobs.
    var count: Int { jobs.count }
    /// The length of the order, with the jobs that were withdrawn.
    var orderLength: Int { order.count }

    mutating func add(_ job: Job, _ id: ID) -> Admission {
        guard jobs.count < mostJobs else { return .refused }
        // More jobs are added between two copies than one copies.
        if order.count >= 2 * mostJobs {
            order = order[first...].filter { jobs[$0] != nil }
            first = 0
        }
        jobs[id] = job
        order.append(id)
        guard threads < mostThreads else { return .waits }
        threads += 1
        return .startThread
    }

    /// Returns the next job for a thread; nil if there is none, and the thread ends.
    mutating func next() -> Job? {
        while first < order.count {
            defer { first += 1 }
            if let job = jobs.removeValue(forKey: order[first]) { return job }
        }
        (order, first) = ([], 0)
        threads -= 1
        return nil
    }

    /// Removes a job that no thread has taken. Returns nil if it is not waiting.
    mutating func withdraw(_ id: ID) -> Job? {
        jobs.removeValue(forKey: id)
    }

    /// Called when a thread could not be started. Returns the jobs that cannot be run, since there is no other thread.
    mutating func threadFailed() -> [Job] {
        threads -= 1
        guard threads == 0 else { return [] }
        defer { (jobs, order, first) = ([:], [], 0) }
        return order[first...].compactMap { jobs[$0] }
    }
}
