#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A thread that blocks all signals and is not joined, for a function that may block: event loops and the threads of
/// Swift's concurrency must not.
package enum DetachedThread {
    /// Starts a thread that runs the function; returns whether it could be started.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // A thread inherits the mask of its creator: set only within the new thread, a signal of the program could
        // reach it first.
        var allSignals = sigset_t()
        var formerSignals = sigset_t()
        sigfillset(&allSignals)
        pthread_sigmask(SIG_SETMASK, &allSignals, &formerSignals)
        defer { pthread_sigmask(SIG_SETMASK, &formerSignals, nil) }
        #if canImport(Glibc)
        var handle = pthread_t()
        #else
        var handle: pthread_t?
        #endif
        let argument = Unmanaged.passRetained(Body(run: body))
        let code = pthread_create(
            &handle, nil,
            { argument in
                pthread_detach(pthread_self())
                // Optional in glibc and musl only.
                guard let argument = argument as UnsafeMutableRawPointer? else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        guard code == 0 else {
            argument.release()
            return false
        }
        return true
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
