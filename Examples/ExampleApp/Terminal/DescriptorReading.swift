import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reads a descriptor on the main queue whenever it has bytes.
enum DescriptorReading {
    /// Starts reading, until the source is cancelled. `deliver` receives the bytes; at the end and after a failure, it
    /// receives no bytes.
    static func start(
        _ descriptor: Int32, _ deliver: @escaping @Sendable ([UInt8]) -> Void
    ) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { @Sendable in
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &bytes, bytes.count)
            if count >= 0 {
                deliver(Array(bytes.prefix(count)))
            } else if errno != EINTR && errno != EAGAIN {
                deliver([])
            }
        }
        source.activate()
        return source
    }
}
