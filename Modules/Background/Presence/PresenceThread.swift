#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A dedicated thread, because `poll` would block a thread of the Swift concurrency pool.
enum PresenceThread {
    /// Starts a detached thread that blocks all signals; returns whether it could be started.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var handle = pthread_t()
        var (allSignals, formerSignals) = (sigset_t(), sigset_t())
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
            return false
        }
        pthread_detach(handle)
        return true
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
