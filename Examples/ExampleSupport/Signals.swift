package import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The signals that the process receives.
package enum Signals {
    /// Calls a function on the main queue with the number of each of these signals, until the sources are cancelled.
    /// Their default effects are then in force again.
    package static func start(
        _ numbers: [Int32], _ receive: @escaping @Sendable (Int32) -> Void
    ) -> [any DispatchSourceProtocol] {
        numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { @Sendable in receive(number) }
            source.setCancelHandler { @Sendable in signal(number, SIG_DFL) }
            source.activate()
            return source
        }
    }

    /// Waits for SIGINT, SIGTERM or SIGHUP.
    package static func termination() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        let sources = start([SIGINT, SIGTERM, SIGHUP]) { continuation.yield($0) }
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
