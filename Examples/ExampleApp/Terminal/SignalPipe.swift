import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A pipe into which the process writes the number of each signal that it receives.
///
/// A handler may only call functions that are safe in signal handlers, such as `write`.
struct SignalPipe {
    /// The descriptor that handlers write to; -1 without a pipe.
    private static let writeEnd = Atomic<Int32>(-1)

    let readEnd: Int32
    private let signals: [Int32]

    init?(_ signals: [Int32]) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = ends[0]
        self.signals = signals
        Self.writeEnd.store(ends[1], ordering: .releasing)
        for number in signals {
            signal(number) { number in
                let savedError = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(SignalPipe.writeEnd.load(ordering: .acquiring), &byte, 1)
                errno = savedError
            }
        }
    }

    func close() {
        for number in signals { signal(number, SIG_DFL) }
        let end = Self.writeEnd.exchange(-1, ordering: .acquiringAndReleasing)
        #if canImport(Glibc)
        Glibc.close(end)
        Glibc.close(readEnd)
        #else
        Musl.close(end)
        Musl.close(readEnd)
        #endif
    }
}
