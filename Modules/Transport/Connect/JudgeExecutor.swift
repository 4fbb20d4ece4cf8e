internal import NIOPosix

/// Runs the judging of chains on a thread pool of its own kind: verifying signatures takes its time, and a handshake must
/// not wait, under its timeout, for whatever else keeps the tasks of the process busy.
final class JudgeExecutor: TaskExecutor {
    static let shared = JudgeExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        NIOThreadPool.singleton.submit { _ in
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
