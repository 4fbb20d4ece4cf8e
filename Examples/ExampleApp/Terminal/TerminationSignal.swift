import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The signals that end a program without a screen.
enum TerminationSignal {
    /// Waits for SIGINT, SIGTERM or SIGHUP. Without a descriptor for it, the signals have their default effects.
    @MainActor
    static func wait() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let pipe = SignalPipe([SIGINT, SIGTERM, SIGHUP])
        let source = pipe.map { DescriptorReading.start($0.readEnd) { _ in continuation.yield() } }
        for await _ in signals { break }
        source?.cancel()
        pipe?.close()
    }
}
