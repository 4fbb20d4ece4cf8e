internal import Glibc
internal import LinnetTransport

/// The kernel's report that the system is short of memory.
struct MemoryPressureSource: Sendable {
    /// The file to watch. `poll` reports its descriptor with ``events``.
    let path: String
    /// The text to write to the file to begin the reports; nil for none.
    let trigger: String?
    let events: Int16

    /// Pressure stall information: tasks waited for memory for a total of 200 ms within two seconds. A window of two
    /// seconds, or a multiple, needs no privileges (Linux, Documentation/accounting/psi.rst).
    static let kernel = MemoryPressureSource(
        path: "/proc/pressure/memory", trigger: "some 200000 2000000", events: Int16(POLLPRI))
}

/// Calls a function each time the kernel reports a shortage of memory. Deallocation ends it.
///
/// A thread waits in `poll`, and calls the function, which must not refer to the watch.
final class MemoryPressureWatch: Sendable {
    private let stopper: Int32

    /// Returns nil if the source cannot be watched.
    init?(_ source: MemoryPressureSource, _ report: @escaping @Sendable () -> Void) {
        let file = open(source.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        if let trigger = source.trigger {
            // The kernel also expects the terminating zero.
            let size = trigger.utf8.count + 1
            guard write(file, trigger, size) == size else {
                close(file)
                return nil
            }
        }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            close(file)
            return nil
        }
        let (stopper, stop) = (ends[0], ends[1])
        let isRunning = DetachedThread.start { [events = source.events] in
            Self.wait(for: events, on: file, until: stop, report)
            close(file)
            close(stop)
        }
        guard isRunning else {
            for descriptor in [file, stopper, stop] { close(descriptor) }
            return nil
        }
        self.stopper = stopper
    }

    deinit {
        // The thread reads the end of the stream, and closes its descriptors.
        close(stopper)
    }

    private static func wait(for events: Int16, on file: Int32, until stop: Int32, _ report: () -> Void) {
        var polled = [
            pollfd(fd: file, events: events, revents: 0), pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else { return }
            guard polled[1].revents == 0 else { return }
            let happened = polled[0].revents
            // `poll` reports readable input until it was read, but pressure once per window. Reading comes first, so
            // that input that arrives during the function is reported again.
            if happened & Int16(POLLIN) != 0 { discardInput(of: file) }
            if happened & events != 0 { report() }
            // The source has ended, or can no longer be watched.
            guard happened & Int16(POLLERR | POLLHUP | POLLNVAL) == 0 else { return }
        }
    }
}

private func discardInput(of file: Int32) {
    var bytes = [UInt8](repeating: 0, count: 256)
    while read(file, &bytes, bytes.count) > 0 {}
}
