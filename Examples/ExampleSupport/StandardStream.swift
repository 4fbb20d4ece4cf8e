package import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Standard output or standard error, unbuffered.
package struct StandardStream: Sendable {
    /// A failure to write bytes.
    package struct WriteError: Error, CustomStringConvertible {
        let code: Int32
        package var description: String { "The output could not be written: \(String(cString: strerror(code)))." }
    }

    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    private let descriptor: Int32

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Whether the stream is a terminal.
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    package func write(_ text: String) throws(WriteError) {
        try write(Data(text.utf8))
    }

    /// Writes all bytes, even to a non-blocking descriptor: another program can have set that for a shared terminal or
    /// pipe.
    package func write(_ bytes: Data) throws(WriteError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Self.write(descriptor, $0) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                waitUntilWritable()
            } else if errno != EINTR {
                throw WriteError(code: errno)
            }
        }
    }

    private func waitUntilWritable() {
        var stream = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&stream, 1, -1)
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
