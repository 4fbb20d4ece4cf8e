import Glibc

/// Calls a function when each of many instants has come, on a thread of its own, which sleeps between them. Calls that
/// are late follow each other at once.
final class Ticker: Sendable {
    private let instants: [Double]
    private let begin: Double
    private let call: @Sendable (Int) -> Void

    private init(_ instants: [Double], begin: Double, _ call: @escaping @Sendable (Int) -> Void) {
        self.instants = instants
        self.begin = begin
        self.call = call
    }

    /// - Parameters:
    ///   - instants: Seconds after `begin`, in ascending order.
    ///   - begin: Seconds on the clock of ``now()``.
    ///   - call: Called with the index of the instant.
    static func start(at instants: [Double], after begin: Double, _ call: @escaping @Sendable (Int) -> Void) throws {
        let ticker = Unmanaged.passRetained(Ticker(instants, begin: begin, call))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { pointer in
                if let pointer { Unmanaged<Ticker>.fromOpaque(pointer).takeRetainedValue().run() }
                return nil
            }, ticker.toOpaque())
        guard status == 0 else {
            ticker.release()
            throw Failure("the thread of the ticker could not be started: error \(status)")
        }
        pthread_detach(thread)
    }

    private func run() {
        Self.sleepPrecisely()
        for index in instants.indices {
            let due = begin + instants[index]
            if now() < due {
                var time = timespec(tv_sec: Int(due), tv_nsec: Int((due - due.rounded(.down)) * 1e9))
                while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
            }
            call(index)
        }
    }

    /// Sets the timer slack of this thread to a nanosecond. The default lets it sleep up to 50 microseconds longer.
    private static func sleepPrecisely() {
        // The folder of the thread, /proc/PROCESS/task/THREAD, does not have the file, which is in /proc/THREAD.
        guard let path = realpath("/proc/thread-self", nil) else { return }
        defer { free(path) }
        guard let thread = String(cString: path).split(separator: "/").last,
            let file = fopen("/proc/\(thread)/timerslack_ns", "w")
        else { return }
        fputs("1", file)
        fclose(file)
    }
}
