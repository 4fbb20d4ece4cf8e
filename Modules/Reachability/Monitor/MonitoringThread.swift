internal import Glibc

/// A dedicated thread, because `poll` would block a thread of the Swift concurrency pool.
struct MonitoringThread: Sendable {
    private let handle: pthread_t

    /// Starts the thread, which inherits the network namespace and blocks all signals.
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
            throw ReachabilityError(.threadFailed, "The monitoring thread could not be started", errorNumber: code)
        }
        self.handle = handle
    }

    /// Waits for the end of the thread. Call it once. On the thread itself it does not wait: a closure of a monitor can
    /// release the last reference to another monitor there.
    func join() {
        if pthread_equal(pthread_self(), handle) != 0 { detach() } else { pthread_join(handle, nil) }
    }

    /// Lets the thread end by itself. Call it instead of `join()`, once.
    func detach() { pthread_detach(handle) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
