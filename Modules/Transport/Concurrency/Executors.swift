internal import NIOCore
internal import NIOPosix

/// Runs tasks on an event loop, so that tasks that send over its connections need no other thread.
///
/// Jobs enqueued on the loop itself run together, in order, after the current event.
final class EventLoopExecutor: TaskExecutor, @unchecked Sendable {
    // SAFETY: `eventLoop` never changes; `jobs` and `isScheduled` are touched on the event loop only.
    private let eventLoop: any EventLoop
    private var jobs: [UnownedJob] = []
    private var running: [UnownedJob] = []
    private var isScheduled = false

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard eventLoop.inEventLoop else {
            return eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
        jobs.append(job)
        guard !isScheduled else { return }
        isScheduled = true
        eventLoop.execute { self.run() }
    }

    private func run() {
        isScheduled = false
        // Two arrays, since a job may enqueue others; both keep their memory.
        swap(&jobs, &running)
        let executor = asUnownedTaskExecutor()
        for job in running { job.runSynchronously(on: executor) }
        running.removeAll(keepingCapacity: true)
    }
}

/// Runs the evaluation of certificate chains on the process's shared `NIOThreadPool`: verifying signatures takes time,
/// and a handshake must not wait, under its timeout, for other tasks of the process.
final class JudgeExecutor: TaskExecutor {
    static let shared = JudgeExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        NIOThreadPool.singleton.submit { _ in
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

/// Runs file operations on its own threads, so that a slow disk delays neither event loops, name resolution, nor the
/// tasks of the process.
package final class FileExecutor: TaskExecutor {
    /// The executor of the process.
    package static let shared = FileExecutor()

    /// The threads mostly wait for the disk, so there may be more of them than cores.
    private let pool = NIOThreadPool(numberOfThreads: 4)

    private init() {
        pool.start()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { _ in
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
