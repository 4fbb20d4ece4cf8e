internal import Glibc

/// A thread of its own, since `poll` would block one of the few that Swift's tasks share.
struct MonitoringThread: Sendable {
    private let handle: pthread_t

    /// Starts the thread, which inherits the network namespace and takes no signals.
    init(_ body: @escaping @Sendable () -> Void) throws(ReachabilityError) {
        var handle = pthread_t()
        var allSignals = sigset_t()
        var formerSignals = sigset_t()
        sigfillset(&allSignals)
        pthread_sigmask(SIG_SETMASK, &allSignals, &formerSignals)
        defer { pthread_sigmask(SIG_SETMASK, &formerSignals, nil) }

        let argument = Unmanaged.passRetained(Body(run: body))
        let code = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        guard code == 0 else {
            argument.release()
            throw ReachabilityError(.threadFailed, "Cannot start the monitoring thread", errorNumber: code)
        }
        self.handle = handle
    }

    /// Waits until the thread has ended. Call it once.
    func join() { pthread_join(handle, nil) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
