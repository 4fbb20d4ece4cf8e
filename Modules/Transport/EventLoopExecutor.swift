internal import NIOCore

/// Runs tasks on an event loop: those that send over its connections then need no other thread.
///
/// Jobs that come from the loop itself are run together, in their order, after what the loop is at.
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
        swap(&jobs, &running)
        let executor = asUnownedTaskExecutor()
        for job in running { job.runSynchronously(on: executor) }
        running.removeAll(keepingCapacity: true)
    }
}
