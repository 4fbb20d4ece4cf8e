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

    /// Waits until the thread has ended. Call it once.
    func join() { pthread_join(handle, nil) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// Stops a thread that waits in `poll`.
final class StopSignal: Sendable {
    private let sender: OwnedDescriptor
    private let receiver: OwnedDescriptor

    init() throws(ReachabilityError) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else {
            throw ReachabilityError(.socketFailed, "A pair of sockets could not be opened", errorNumber: errno)
        }
        sender = OwnedDescriptor(owning: numbers[0])
        receiver = OwnedDescriptor(owning: numbers[1])
    }

    /// The descriptor that becomes and stays readable once the signal is sent.
    var descriptor: Int32 { receiver.number }

    func send() { shutdown(sender.number, Int32(SHUT_RDWR)) }
}
