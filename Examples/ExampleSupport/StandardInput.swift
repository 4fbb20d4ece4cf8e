package import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Standard input: a file, a pipe or a terminal.
package enum StandardInput {
    /// A failure to read.
    package struct ReadError: Error, CustomStringConvertible {
        let code: Int32
        package var description: String { "Standard input cannot be read: \(String(cString: strerror(code)))." }
    }

    /// Reads all bytes until the end.
    package static func readAll() throws(ReadError) -> Data {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += buffer.prefix(count)
            } else if errno != EINTR {
                throw ReadError(code: errno)
            }
        }
    }
}
