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

    /// Whether the stream is a terminal.
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    package func write(_ text: String) throws(WriteError) {
        try write(Data(text.utf8))
    }

    package func write(_ bytes: Data) throws(WriteError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Self.write(descriptor, $0) }
            guard written >= 0 || errno == EINTR else { throw WriteError(code: errno) }
            rest = rest.dropFirst(max(0, written))
        }
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
