import BenchSupport
import Linnet
import NIOCore
import NIOPosix

/// Where the connections run, and the tasks that use them.
struct Loops {
    /// `onloop` runs tasks on event loops, `loops=N` says on how many.
    private let isOnLoop: Bool
    private let group: MultiThreadedEventLoopGroup?

    init(_ arguments: Arguments) {
        isOnLoop = arguments.options["onloop"] != nil
        group = arguments.options["loops"].flatMap { Int($0) }.map { MultiThreadedEventLoopGroup(numberOfThreads: $0) }
    }

    var eventLoops: TransportConfiguration.EventLoops { group.map { .group($0) } ?? .shared }

    func executors(_ http: HTTPSession) -> [any TaskExecutor] {
        guard isOnLoop else { return [] }
        #if TASK_EXECUTORS
        return http.taskExecutors
        #else
        let group = self.group ?? MultiThreadedEventLoopGroup.singleton
        return group.makeIterator().map { EventLoopExecutor(eventLoop: $0) }
        #endif
    }
}

#if !TASK_EXECUTORS
/// Runs a task's jobs on an event loop.
private final class EventLoopExecutor: TaskExecutor {
    let eventLoop: any EventLoop

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
#endif
