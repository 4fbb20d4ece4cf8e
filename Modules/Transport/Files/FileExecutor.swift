internal import NIOPosix

/// Runs what reads and writes files, on threads of its own: a slow disk holds up neither an event loop, nor a look-up
/// of a name, nor the tasks of the process.
package final class FileExecutor: TaskExecutor {
    /// The one of the process.
    package static let shared = FileExecutor()

    /// The threads mostly wait for a disk, so that there may be more of them than cores.
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
